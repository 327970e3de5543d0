// What a model's attentions compute on one sentence: the model runs as in training (teacher
// forcing, without dropout) on all its sides, and every attention selected is read on the way.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "lib/attention/selection.h"
#include "lib/model/transformer.h"

namespace tx {

// One layer and head, or a mean of several. Of weights: row i attends to column j with
// at(i, j), and every row sums to 1. Of q, k, v, context and output the columns are features.
struct AttentionMap {
  int64_t rows = 0, columns = 0;
  std::vector<float> values;
  float at(int64_t row, int64_t column) const { return values[size_t(row * columns + column)]; }
};
AttentionMap mean_of(std::span<const AttentionMap> maps);  // of maps of one shape, at least one

// [layer][head] of one kind, in the order of the selection; [layer][0] is the mean of heads, and
// the output, which heads have together.
using AttentionMaps = std::vector<std::vector<AttentionMap>>;

// Everything that the selection asks for. Lists of AttentionMaps have an entry for each of
// selection.kinds, or none where the quantity is not selected.
struct Extracted {
  std::vector<AttentionMaps> maps;                       // weights
  std::map<Quantity, std::vector<AttentionMaps>> parts;  // the other quantities
  // Of each label, where selection.log_p: its natural logarithm of P, and its rank among all tokens
  // at its place, 1 being the likeliest.
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

  // ids: what each side reads, an encoder the ids with <eos>, a decoder <bos> and the ids before
  // each position; labels: the ids that the last side's rows predict, read where selection.log_p.
  // None is empty or longer than the transformer's longest(). Numbers that are not finite, which a
  // damaged model gives, are a DataError.
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
  void* room_ = nullptr;  // in the backend's memory, for what is about to be downloaded
};

}  // namespace tx
