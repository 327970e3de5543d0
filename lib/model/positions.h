// Position encodings: the sinusoids of section 3.5 of the paper, rotary angles, ALiBi slopes
// and buckets of distances.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/backend.h"
#include "lib/model/config.h"

namespace tx {

// sin(position / divisor) and cos(position / divisor). Their wavelength is 2 pi times the divisor.
struct SinusoidPair {
  size_t sine, cosine;
  double divisor;
};
// The pairs of a layout, d_model / 2: of the paper (2i, 2i+1, 10000^(2i / D)); or sines before
// cosines (i, i + D/2), `halves` with the paper's divisors, `fairseq` with 10000^(i / (D/2 - 1)).
std::vector<SinusoidPair> sinusoid_pairs(int64_t d_model,
                                         PositionEncoding layout = PositionEncoding::sinusoid);
// PE(position), section 3.5; in double.
std::vector<double> sinusoid(int64_t position, const std::vector<SinusoidPair>& pairs);
std::vector<double> sinusoid(int64_t position, int64_t d_model,
                             PositionEncoding layout = PositionEncoding::sinusoid);

// Rotary angle per position of each pair of features (d_k / 2).
std::vector<double> rotary_frequencies(const ModelConfig& config);
// Cosines, then sines, of the angles of a position (d_k).
std::vector<double> rotary_row(const std::vector<double>& frequencies, int64_t position);

// The bucket of each distance -reach .. reach of a key from its query (T5): the nearest distances
// have one each, farther ones share one by their logarithm. `both`: later keys have half of the
// buckets; otherwise all have that of the query itself.
std::vector<int32_t> distance_buckets(int buckets, int reach, bool both);

// ALiBi (Press, Smith and Lewis 2022): the slope of each head, by which a score falls per token of
// distance: 2^(-8 (h+1) / n) for n heads; if n is not a power of two, those of the next lower power
// and then every second one of twice that power.
std::vector<double> alibi_slopes(int heads);

// A table (length, width) in the backend's memory, f32 or f64, computed row by row.
class PositionTable {
 public:
  using Row = std::function<std::vector<double>(int64_t row)>;
  PositionTable(Backend& backend, int64_t length, int64_t width, DType dtype, const Row& row);
  PositionTable(Backend& backend, const std::vector<int32_t>& buckets);  // (1, their number)
  ~PositionTable();
  PositionTable(const PositionTable&) = delete;
  PositionTable& operator=(const PositionTable&) = delete;
  Matrix table() const { return table_; }
  const int32_t* buckets() const { return static_cast<const int32_t*>(table_.data); }

 private:
  Backend& backend_;
  Matrix table_;
};

}  // namespace tx
