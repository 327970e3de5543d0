// The attention weights of a model on one sentence: the model runs as in training (teacher forcing,
// without dropout) on source and target, and every attention selected is read on the way.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "lib/attention/selection.h"
#include "lib/model/transformer.h"

namespace tx {

// Weights of one layer and head, or a mean of several: row i attends to column j with
// weights[i * columns + j]. Every row sums to 1.
struct AttentionMap {
  int64_t rows = 0, columns = 0;
  std::vector<float> weights;
  float at(int64_t row, int64_t column) const { return weights[size_t(row * columns + column)]; }
};
AttentionMap mean_of(std::span<const AttentionMap> maps);  // of maps of one shape, at least one

// [layer][head] of one kind, in the order of the selection; [layer][0] is the mean of heads.
using AttentionMaps = std::vector<std::vector<AttentionMap>>;

// One object per thread; the Transformer may be shared. Needs Parameters::prepare_inference().
class Extraction {
 public:
  Extraction(Backend& backend, const Transformer& transformer, DType dtype, Selection selection);
  ~Extraction();
  Extraction(const Extraction&) = delete;
  Extraction& operator=(const Extraction&) = delete;

  // source: ids with <eos>; input: <bos> and the ids before each position. Neither empty nor longer
  // than the transformer's longest(). Returns an entry for each of selection.kinds. Weights that
  // are not finite, which a damaged model gives, are a DataError.
  std::vector<AttentionMaps> run(std::span<const int> source, std::span<const int> input);

 private:
  void reserve(std::span<const PackedSide> sides);
  std::vector<AttentionMap> read(Context& context, const AttentionInput& input, int64_t rows,
                                 int64_t columns);

  Backend& backend_;
  const Transformer& transformer_;
  DType dtype_;
  Selection selection_;
  DeviceSide source_, target_;
  std::unique_ptr<Arena> arena_;
  size_t arena_bytes_ = 0, map_bytes_ = 0;
  void* map_ = nullptr;  // one map in the backend's memory
};

}  // namespace tx
