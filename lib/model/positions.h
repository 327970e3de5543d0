// Position encodings: the sinusoids of section 3.5 of the paper, rotary angles, and ALiBi slopes.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/backend.h"
#include "lib/model/config.h"

namespace tx {

// PE(position, 2i) = sin(position / 10000^(2i / D)), PE(position, 2i+1) the cosine; in double.
std::vector<double> sinusoid(int64_t position, int64_t d_model);
// The same in another layout, all sines before all cosines: `halves` with the paper's frequencies,
// `fairseq` with 10000^(-i / (D/2 - 1)).
std::vector<double> sinusoid(int64_t position, int64_t d_model, PositionEncoding layout);

// Rotary angle per position of each pair of features (d_k / 2).
std::vector<double> rotary_frequencies(const ModelConfig& config);
// Cosines, then sines, of the angles of a position (d_k).
std::vector<double> rotary_row(const std::vector<double>& frequencies, int64_t position);

// ALiBi (Press, Smith and Lewis 2022): the slope of each head, by which a score falls per token of
// distance: 2^(-8 (h+1) / n) for n heads; if n is not a power of two, those of the next lower power
// and then every second one of twice that power.
std::vector<double> alibi_slopes(int heads);

// A table (length, width) in the backend's memory, f32 or f64, computed row by row.
class PositionTable {
 public:
  using Row = std::function<std::vector<double>(int64_t row)>;
  PositionTable(Backend& backend, int64_t length, int64_t width, DType dtype, const Row& row);
  ~PositionTable();
  PositionTable(const PositionTable&) = delete;
  PositionTable& operator=(const PositionTable&) = delete;
  Matrix table() const { return table_; }

 private:
  Backend& backend_;
  Matrix table_;
};

}  // namespace tx
