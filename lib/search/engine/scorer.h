// The scores of the next tokens.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "lib/model/incremental_decoder.h"
#include "lib/search/engine/hypothesis.h"
#include "lib/tensor/device_array.h"

namespace tx {

// A list of allowed tokens per sentence of a batch. The logits have one column for each token of
// the union of the lists; a sentence only sees the columns of its own list.
class TokenLists {
 public:
  TokenLists(Backend& backend, int64_t vocabulary)
      : backend_(backend), columns_(backend), place_(size_t(vocabulary), -1) {}

  using Lists = std::vector<std::vector<int32_t>>;  // ids, ascending, none empty
  void clear() {
    lists_.clear();
    all_.clear();
  }
  // Adds sentences, numbered from 0 since clear(), and updates the union.
  void add(Lists lists);
  // The union stays as it is.
  void release(int32_t sentence) { lists_.at(size_t(sentence)).ids.clear(); }
  const std::vector<int32_t>& all() const { return all_; }  // the union, ascending

  struct View {
    std::span<const int32_t> ids;
    const int32_t* columns;  // their indices in all(), in the backend's memory
    int64_t size() const { return int64_t(ids.size()); }
  };
  const int32_t* columns() const { return columns_.data(); }  // of all lists
  View of(int32_t sentence) const;

 private:
  struct List {
    std::vector<int32_t> ids;
    size_t first = 0;  // in columns_
  };
  Backend& backend_;
  std::vector<List> lists_;  // by sentence; empty after release()
  std::vector<int32_t> all_;
  DeviceInts columns_;
  std::vector<int32_t> place_;  // index of each id in all_; -1: not in it
};

// Scores the next tokens of the rows of a batch. Several models are an ensemble: their
// log-probabilities are averaged. One object per thread; models are shared.
class Scorer {
 public:
  // top: candidates per row, best first; 0: every token. looks_again: look_again() will be called.
  Scorer(Backend& backend, std::span<const Transformer* const> models, DType dtype, int top,
         bool looks_again = false);
  ~Scorer();

  // Restricts each sentence to a list of tokens; log P is normalised over the list.
  void use_lists() { lists_ = std::make_unique<TokenLists>(backend_, vocabulary_); }

  // Tokens that end an output. Among candidates, and in look_again(), the best of them and <eos>
  // becomes <eos> and the others -1 (-inf); a step() with every token sums them into <eos> instead.
  void end_at(std::vector<int> tokens) { ends_ = std::move(tokens); }

  // As in IncrementalDecoder. With use_lists(), admit() takes a list for each source.
  void open(const IncrementalDecoder::Capacity& capacity);
  size_t bytes(const IncrementalDecoder::Capacity& capacity);
  bool admit(const IncrementalDecoder::Sources& sources, std::span<const int64_t> longest,
             int width, TokenLists::Lists lists = {});
  void release(int32_t sentence);
  void forget_inputs(int32_t sentence, int64_t rows) {
    for (const auto& decoder : decoders_) decoder->forget_inputs(sentence, rows);
  }
  // The scores lie in host memory and are valid until the next call.
  Scores step(std::span<const IncrementalDecoder::Row> rows);
  // The result of step(), which the caller may change; ids() is empty if top is 0.
  std::span<float> values() { return values_; }
  std::span<int32_t> ids() { return best_; }
  // log P (N,V) of at most `looks` rows of the last step; -inf off the list. Until the next call.
  static constexpr int64_t looks = 8;
  std::span<const float> look_again(std::span<const int32_t> rows);

 private:
  // Adjacent rows that share a list; without lists, all rows.
  struct Part {
    int64_t first = 0, rows = 0, width = 0;
    TokenLists::View list = {};
  };
  void find_parts(std::span<const IncrementalDecoder::Row> rows);
  const Part& part_of(int64_t row) const;
  Matrix own_columns(Matrix logits, const Part& part);
  void score(size_t model, const Matrix& logits, const Part& part);
  // Whether each list is scored by itself, after the recorded part of a step.
  bool scores_parts() const { return lists_ && !single(); }
  void end_step(size_t model, const Matrix& logits);
  void list_rows();
  void send_best();
  void spread_best(const Part& part);
  void spread(const Part& part, float* row);
  void join_ends();
  void reserve(int64_t rows);
  bool ensemble() const { return decoders_.size() > 1; }
  // Candidates come from the logits of one model.
  bool single() const { return !ensemble() && top_ > 0; }

  Backend& backend_;
  int64_t vocabulary_;
  int top_;
  bool looks_again_;
  std::vector<std::unique_ptr<IncrementalDecoder>> decoders_;
  std::unique_ptr<TokenLists> lists_;
  std::vector<Part> parts_;                 // of the step
  int64_t padded_rows_ = 0;                 // of the step, as the decoders round them
  int64_t rows_ = 0;                        // capacity R of the following buffers
  void *sum_ = nullptr, *log_p_ = nullptr;  // (R,V) f32: of all models, of one
  void* top_best_ = nullptr;                // (R,top) values, then (R,top) ids; R: padded_rows_
  void* looked_at_ = nullptr;               // (looks,V) f32
  void* own_ = nullptr;                     // a part's columns, in the logits' dtype
  Matrix last_;                             // of step(): one model's logits, or sum_
  SharedWords sent_;                        // top_best_ in the host's memory
  SharedWords row_lists_;                   // (2,R): where each row's list begins, its length
  std::span<float> values_;                 // of step(): in sent_ or every_
  std::span<int32_t> best_;
  std::vector<float> every_, whole_, narrow_;
  std::vector<int> ends_;
};

}  // namespace tx
