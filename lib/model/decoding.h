// Step-by-step decoding of a batch of sentences with cached keys and values (section 6.1, PAPER:
// Decoding). Knows nothing of beams: the caller says for every row which row of the step before it
// continues, and nothing is ever copied: each hypothesis keeps the list of its cache rows.
//
//   Decoding d(backend, transformer, DType::bf16);
//   d.begin(sources, 4 * sources.size(), longest + 50);
//   Matrix logits = d.step(rows);     // rows of step 0: one a sentence, parent -1, token <bos>
//
// On a backend that replays work (CUDA graphs) everything that a step touches keeps its place, and
// rows are rounded up to one of few numbers, each of which is recorded once.
//
// Needs Parameters::prepare_inference(). A row's logits are the same bits whatever rows stand
// beside it. One object a thread; the Transformer may be shared.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/model/transformer.h"
#include "lib/tensor/ints.h"

namespace tx {

class Decoding {
 public:
  struct Row {
    int32_t sentence = 0;  // index into begin()'s sources
    int32_t parent = -1;   // row of the previous step; -1 in step 0
    int32_t token = 0;     // what this row reads: the piece chosen last, <bos> in step 0
  };

  Decoding(Backend& backend, const Transformer& transformer, DType dtype);
  ~Decoding();

  // Encodes the sources (ids with their final <eos>, none empty). max_rows bounds the rows of a
  // step, max_steps the number of steps.
  void begin(const std::vector<std::vector<int>>& sources, int64_t max_rows, int64_t max_steps);
  // Logits (R,Vp) of the next position, valid until the next call.
  Matrix step(std::span<const Row> rows);
  int64_t steps() const { return step_; }

 private:
  void plan(int64_t source_rows, int64_t max_rows, int64_t max_steps);
  bool reserve_cache(int64_t max_steps);
  bool reserve_steps(int64_t max_steps);
  void keep_memory();
  void forget();
  int64_t rounded(int64_t rows) const;
  PackedSide pack(const std::vector<std::vector<int>>& sources);
  void follow(std::span<const Row> rows);
  Tensor run(Context& context, int64_t rows);
  Tensor sublayers(Context& context, Tensor x, int64_t rows);
  Tensor attend_cache(Context& context, size_t layer, Tensor x, int64_t rows);
  Tensor attend_memory(Context& context, size_t layer, Tensor x, int64_t rows);

  Backend& backend_;
  const Transformer& transformer_;
  DType dtype_;
  int64_t row_width_;  // of the cache: q, k and v of one layer
  bool replays_;       // the backend records a step and launches it again
  std::unique_ptr<Arena> arena_;
  Tensor memory_, logits_;            // live in arena_
  std::map<int64_t, Matrix> places_;  // of the logits, by rows
  Matrix keys_;   // memory_'s value; where steps are replayed, a copy that keeps its place
  Matrix cache_;  // (layers * layer_rows, row_width)
  size_t cache_bytes_ = 0, arena_bytes_ = 0, keys_bytes_ = 0;
  int64_t max_rows_ = 0, max_steps_ = 0, step_ = 0;
  int64_t layer_rows_ = 0, stride_ = 0;  // of the cache; of step_index_ where steps are replayed
  std::vector<int32_t> source_first_, source_rows_;
  std::vector<int32_t> index_, next_index_;  // (rows, steps so far): cache rows of each hypothesis
  Ints ids_, offsets_, pairs_, positions_, step_ids_, step_positions_, step_index_, lengths_,
      first_, source_lengths_, slots_;
  const int32_t* slot_ = nullptr;  // (rows) where the step's keys and values go in the cache
  PackedSide source_, target_;
  CachedAttention self_, cross_;
};

}  // namespace tx
