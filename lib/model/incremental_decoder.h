// Step-by-step decoding of sentences that come and go, with cached keys and values (section 6.1,
// tx-paper(7)). It knows nothing of beams: for every row the caller says which row of the step
// before it continues. Keys and values are never copied: each hypothesis keeps a list of its cache
// rows, to which the device adds one in every step.
//
//   IncrementalDecoder d(backend, transformer, DType::bf16);
//   d.open({.source_rows = 1000, .rows = 64, .cache_rows = 6400, .steps = 100});
//   d.admit(sources, {80, 95}, 4);    // sentences 0 and 1, of at most so many steps, 4 rows each
//   Matrix logits = d.step(rows);     // first row of a sentence: parent -1, token <bos>
//   d.release(0);                     // another sentence may take its place
//
// A decoder alone has prompts in place of sources: the tokens before the first that a step reads,
// <bos> first. They enter in one pass and fill the cache; a sentence may have none, and then its
// first step reads <bos>.
//
// On a backend that replays work (CUDA graphs) everything that a step touches keeps its place, and
// the number of rows is rounded up to one of a few, each of which is recorded once.
//
// Needs Parameters::prepare_inference(). A row's logits are the same bits whatever rows stand
// beside it. One object per thread; the Transformer may be shared.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "lib/model/picked_output.h"
#include "lib/model/transformer.h"
#include "lib/tensor/range_allocator.h"

namespace tx {

class IncrementalDecoder {
 public:
  struct Capacity {
    int64_t source_rows = 0;  // of the sentences that are decoded at a time; of prompts: admitted
    int64_t rows = 0;         // of a step
    int64_t cache_rows = 0;   // prompt + longest x width, summed over those sentences
    int64_t steps = 0;        // of the longest output, the rows of its prompt counted
  };
  struct Row {
    int32_t sentence = 0;  // its number
    int32_t parent = -1;   // row of the previous step; -1 in the sentence's first step
    int32_t token = 0;     // what this row reads: the token chosen last, <bos> in the first step
  };
  // Ids with their final <eos>, none empty; of a decoder alone prompts, which may be empty.
  using Sources = std::vector<std::vector<int>>;

  IncrementalDecoder(Backend& backend, const Transformer& transformer, DType dtype);
  ~IncrementalDecoder();

  void open(const Capacity& capacity);     // drops all sentences
  size_t bytes(const Capacity& capacity);  // of memory that open() takes at most
  // Encodes the sources. Sentence i has at most `width` rows per step and longest[i] steps.
  // Sentences are numbered from 0 in the order in which they are admitted. Returns false and
  // changes nothing where the capacity is used up.
  bool admit(const Sources& sources, std::span<const int64_t> longest, int width);
  void release(int32_t sentence);
  // From here on, until open(), column i of the logits is that of token ids[i].
  void pick(std::span<const int32_t> ids);
  // open() for these sources and admit(), every sentence with up to max_rows rows.
  void begin(const Sources& sources, int64_t max_rows, int64_t max_steps);
  // Logits (R,Vp) of the next position, or (R, picked tokens), valid until the next call. Rows of a
  // sentence stand together.
  Matrix step(std::span<const Row> rows);
  // Called for every attention of every step, see keys_values.h; where the backend replays work,
  // only in the steps that are not replayed.
  void set_probe(AttentionProbe probe);

 private:
  struct Sentence {
    int64_t first_key = 0, keys = 0;    // rows of kv_->cross
    int64_t first_slot = 0, slots = 0;  // rows of a layer's cache
    int64_t prompt = 0;                 // the first rows of those
    int64_t born = 0, longest = 0;      // step_ when it was admitted; steps
    int width = 1;
    bool active = true;
  };
  bool has_cross() const { return transformer_.cross_width() > 0; }
  PackedSide upload(const Sources& sources);
  Tensor cross_keys_values(Context& context) const;
  void encode(const Sources& sources, int64_t first_row);
  void pass_prompts(Context& context, const int32_t* slots) const;
  void read_prompts(const Sources& sources, std::span<const Sentence> sentences);
  // What is uploaded for a step: columns of one integer per row.
  enum Column { id, position, parent, slot, length, first_key, source_length, columns };
  size_t plan(const Capacity& capacity);
  bool reserve(Matrix& block, size_t& held, int64_t rows, int64_t cols);
  int64_t rounded(int64_t rows) const;
  int64_t cache_rows(const Capacity& capacity) const;
  int64_t list_entries(const Capacity& capacity) const {
    return rounded(capacity.rows) * capacity.steps;
  }
  void follow(std::span<const Row> rows);
  Tensor run(Context& context, int64_t rows);

  Backend& backend_;
  const Transformer& transformer_;
  DType dtype_;
  bool replays_;  // the backend records a step and launches it again
  Capacity capacity_;
  std::unique_ptr<Arena> arena_;
  Tensor logits_;                     // lives in arena_
  std::map<int64_t, Matrix> places_;  // of the logits, by rows
  std::unique_ptr<PickedOutput> picked_;
  bool picks_ = false;
  size_t arena_bytes_ = 0, cross_bytes_ = 0, cache_bytes_ = 0;
  RangeAllocator source_rows_, slots_;
  std::vector<Sentence> sentences_;
  int64_t step_ = 0;
  size_t last_rows_ = 0;       // of the step before
  std::vector<int32_t> rows_;  // (columns, rows): the step's
  DeviceSide sources_;
  DeviceInts step_rows_, prompt_slots_;
  // (2, rows, steps): cache rows of each hypothesis, of this step and of the one before
  DeviceInts lists_;
  CacheLists extension_;
  PackedSide source_, target_;
  std::shared_ptr<CachedKeysValues> kv_;  // owns its cache and cross
};

}  // namespace tx
