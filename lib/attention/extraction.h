// What a model's attention layers compute for one sentence. The model runs as in training (teacher
// forcing, without dropout), and the selected layers are read during the forward pass.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "lib/attention/selection.h"
#include "lib/model/transformer.h"

namespace tx {

// One layer and head, or a mean of several. Weights: row i attends to column j with at(i, j), and
// every row sums to 1. q, k, v, context and output: columns are features.
struct AttentionMap {
  int64_t rows = 0, columns = 0;
  std::vector<float> values;
  float at(int64_t row, int64_t column) const { return values[size_t(row * columns + column)]; }
};
AttentionMap mean_of(std::span<const AttentionMap> maps);  // at least one map, all of one shape

// [layer][head] of one kind, as selected. A mean of heads and the output are at [layer][0].
using AttentionMaps = std::vector<std::vector<AttentionMap>>;

// The selected quantities: one AttentionMaps per selection.kinds, or none if not selected.
struct Extracted {
  std::vector<AttentionMaps> maps;                       // weights
  std::map<Quantity, std::vector<AttentionMaps>> parts;  // the other quantities
  // With selection.log_p, for each label: its natural log probability and its rank, from 1.
  std::vector<float> log_p;
  std::vector<int64_t> rank;

  const std::vector<AttentionMaps>& of(Quantity quantity) const {
    return quantity == Quantity::weights ? maps : parts.at(quantity);
  }
};

// One object per thread; the Transformer may be shared. Needs Parameters::prepare_inference().
class Extraction {
 public:
  Extraction(Backend& backend, const Transformer& transformer, DType dtype, Selection selection);
  ~Extraction();
  Extraction(const Extraction&) = delete;
  Extraction& operator=(const Extraction&) = delete;

  // ids: the input of each side (encoder: ids and <eos>; decoder: <bos> and the previous ids); none
  // is empty or longer than longest(). labels: the ids that the last side's rows predict, for
  // selection.log_p. DataError: values that are not finite (a damaged model).
  Extracted run(const std::vector<std::vector<int>>& ids, std::span<const int> labels = {});

 private:
  struct Sentence;
  Tensor pass(Context& context, std::span<const PackedSide> sides, const AttentionProbe& probe);
  void reserve(std::span<const PackedSide> sides);
  bool wants(Quantity quantity) const;
  void read(Context& context, const ProbedAttention& attention, const Sentence& sentence,
            Extracted& out);
  std::vector<AttentionMap> read_weights(Context& context, const AttentionInput& input,
                                         int64_t rows, int64_t columns);
  AttentionMap download(Matrix from);
  std::vector<AttentionMap> heads_of(Matrix from, int width);
  void read_labels(Matrix logits, std::span<const int> labels, Extracted& out);

  Backend& backend_;
  const Transformer& transformer_;
  DType dtype_;
  Selection selection_;
  std::deque<DeviceSide> sides_;
  std::unique_ptr<Arena> arena_;
  size_t arena_bytes_ = 0, room_bytes_ = 0;
  void* room_ = nullptr;  // staging buffer in the backend's memory, for downloads
};

}  // namespace tx
