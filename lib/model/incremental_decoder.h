// Incremental decoding with cached keys and values and continuous batching: sentences join and
// leave between steps (section 6.1, tx-paper(7)). It is independent of beam search: for every row
// the caller names the row of the previous step that it continues. Keys and values are never
// copied: each hypothesis has a list of its cache rows, to which the device appends one in every
// step.
//
//   IncrementalDecoder d(backend, transformer, DType::bf16);
//   d.open({.source_rows = 1000, .rows = 64, .cache_rows = 6400, .steps = 100});
//   d.admit(sources, {80, 95}, 4);    // sentences 0 and 1, at most 80 and 95 steps, 4 rows each
//   Matrix logits = d.step(rows);     // first row of a sentence: parent -1, token <bos>
//   d.release(0);                     // frees the capacity of sentence 0
//
// A decoder-only model has prompts instead of sources: <bos> and the tokens up to the one that the
// first step reads. They fill the cache in one pass. An empty prompt is allowed; the first step
// then reads <bos>.
//
// On a backend that replays work (CUDA graphs) all memory of a step keeps its address, and the
// number of rows is rounded up to one of a few sizes, so that few graphs are recorded.
//
// A recurrent decoder keeps one vector per hypothesis and layer, in two halves that alternate from
// step to step, and one for each row that has no parent.
//
// Needs Parameters::prepare_inference(). Logits are batch-invariant: a row's bits do not depend on
// the other rows. One object per thread; the Transformer may be shared.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lib/model/transformer.h"
#include "lib/tensor/arena.h"
#include "lib/tensor/device_array.h"

namespace tx {

// The output projection for a subset of the tokens: fewer columns of logits.
class PickedOutput {
 public:
  // keeps_place: pick() keeps the addresses and the number of columns, unless that must grow;
  // columns behind those picked are those of any tokens.
  PickedOutput(Backend& backend, bool keeps_place)
      : backend_(backend), keeps_place_(keeps_place), ids_(backend) {}
  ~PickedOutput();
  PickedOutput(const PickedOutput&) = delete;
  PickedOutput& operator=(const PickedOutput&) = delete;

  // Column i of the logits is bit for bit that of token ids[i] of `output`, prepared for inference.
  // Returns whether an address or the number of columns changed.
  bool pick(const Projection& output, std::span<const int32_t> ids);
  const Projection& projection() const { return picked_; }

 private:
  Backend& backend_;
  bool keeps_place_;
  std::vector<int32_t> rows_;  // ids, and padding
  DeviceInts ids_;
  Projection picked_;
  size_t bias_bytes_ = 0;
};

class IncrementalDecoder {
 public:
  struct Capacity {
    int64_t source_rows = 0;  // of all open sentences; with prompts: of one admit()
    int64_t rows = 0;         // of a step
    int64_t cache_rows = 0;   // prompt + longest x width, summed over the open sentences
    int64_t steps = 0;        // of the longest output, including the rows of its prompt
  };
  // The rows of a sentence without a parent read the beginning of its output, token by token; a
  // step may have several of them, unless the backend replays work. The rows with a parent follow,
  // first those that continue the last of them.
  struct Row {
    int32_t sentence = 0;  // its number
    int32_t parent = -1;   // row of the previous step
    int32_t token = 0;     // the row's input: the token chosen last, <bos> first
  };
  // Ids including <eos>, none empty; for a decoder-only model prompts, which may be empty.
  using Sources = std::vector<std::vector<int>>;

  IncrementalDecoder(Backend& backend, const Transformer& transformer, DType dtype);
  ~IncrementalDecoder();

  // Before the first open(): work that ends each step. It gets the logits of all rows of the step
  // and is recorded with it, so it must always be the same for the same number of rows.
  using Ending = std::function<void(const Matrix& logits)>;
  void end_steps_with(Ending ending) { ending_ = std::move(ending); }
  // How many rows a step of `rows` rows computes; the others are padding.
  int64_t rounded(int64_t rows) const;

  void open(const Capacity& capacity);     // drops all sentences
  size_t bytes(const Capacity& capacity);  // upper bound of the memory that open() allocates
  // Encodes the sources. Sentence i has at most `width` rows per step and longest[i] steps.
  // Sentences are numbered from 0 in the order of admission. Returns false, and changes nothing, if
  // the capacity does not suffice.
  bool admit(const Sources& sources, std::span<const int64_t> longest, int width);
  void release(int32_t sentence);
  // From now until open(), column i of the logits is that of token ids[i].
  void pick(std::span<const int32_t> ids);
  // open() for these sources and admit(), every sentence with up to max_rows rows.
  void begin(const Sources& sources, int64_t max_rows, int64_t max_steps);
  // Forgets the last `rows` rows of a sentence; neither they nor the next have a parent.
  void forget_inputs(int32_t sentence, int64_t rows) {
    sentences_[size_t(sentence)].prompt -= rows;
  }
  // Logits (R,Vp) of the next position, or (R, picked tokens), perhaps with more columns behind. A
  // sentence's rows are adjacent.
  Matrix step(std::span<const Row> rows);
  // The caller has waited for the last step; without this call the next step() waits for it, as the
  // device may still read the rows.
  void step_is_done() { busy_ = false; }

 private:
  struct Sentence {
    int64_t first_key = 0, keys = 0;    // rows of kv_->cross
    int64_t first_slot = 0, slots = 0;  // rows of a layer's cache
    int64_t prompt = 0;                 // the first slots: the prompt, and rows without a parent
    int64_t born = 0;                   // step_ after the last row without a parent
    int64_t last = 0;                   // the maximum of `prompt` and further steps
    int width = 1;
    bool active = true;
  };
  bool has_cross() const { return transformer_.cross_width() > 0; }
  bool recurrent() const { return transformer_.recurrent(); }
  // Of a row of the cache.
  int64_t width() const;
  DType dtype() const;
  int64_t slots_for(int64_t prompt, int64_t longest, int width) const;
  PackedSide upload(const Sources& sources);
  Tensor cross_keys_values(Context& context) const;
  void encode(const Sources& sources, int64_t first_row);
  void pass_prompts(Context& context, const int32_t* slots) const;
  void read_prompts(const Sources& sources, std::span<const Sentence> sentences);
  // The columns of record_, one integer per row each. Of a recurrent decoder `parent` is
  // the slot of the row that it continues, or -1.
  enum Column { id, position, parent, slot, length, first_key, source_length, columns };
  size_t plan(const Capacity& capacity);
  bool reserve(Matrix& block, size_t& held, DType dtype, int64_t rows, int64_t cols);
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
  Ending ending_;
  Capacity capacity_;
  std::unique_ptr<Arena> arena_;
  Tensor logits_;                     // lives in arena_
  std::map<int64_t, Matrix> places_;  // addresses of the logits, by the recording
  std::unique_ptr<PickedOutput> picked_;
  bool picks_ = false;
  size_t arena_bytes_ = 0, cross_bytes_ = 0, cache_bytes_ = 0;
  RangeAllocator source_rows_, slots_;
  std::vector<Sentence> sentences_;
  int64_t step_ = 0;
  size_t last_rows_ = 0;             // of the previous step
  bool busy_ = false;                // the device may still read record_
  SharedWords record_;               // (columns, rows): the inputs of the step
  std::vector<int32_t> last_slots_;  // of the previous step's rows
  DeviceSide sources_;
  DeviceInts step_rows_, prompt_slots_;  // step_rows_: the device's copy of record_
  // (2, rows, steps): cache rows of each hypothesis, for this step and the previous one
  DeviceInts lists_;
  CacheLists extension_;
  PackedSide source_, target_;
  std::shared_ptr<CachedKeysValues> kv_;  // owns its cache and cross
};

}  // namespace tx
