// What one or several models say about the next pieces of the rows of a batch. Several are an
// ensemble: their log-probabilities are averaged. One object per thread; models are shared.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "lib/model/incremental_decoder.h"
#include "lib/search/hypothesis.h"

namespace tx {

class Scorer {
 public:
  // top: candidates per row, best first (at most the vocabulary); 0: every piece of it.
  // looks_again: look_again() will be called.
  Scorer(Backend& backend, std::span<const Transformer* const> models, DType dtype, int top,
         bool looks_again = false);
  ~Scorer();
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  // As in IncrementalDecoder.
  void open(const IncrementalDecoder::Capacity& capacity);
  size_t bytes(const IncrementalDecoder::Capacity& capacity);
  bool admit(const IncrementalDecoder::Sources& sources, std::span<const int64_t> longest,
             int width);
  void release(int32_t sentence);
  // The scores lie in host memory and are valid until the next call.
  Scores step(std::span<const IncrementalDecoder::Row> rows);
  // What step() gave, which may be changed before a search sees it; ids() is empty where top is 0.
  std::span<float> values() { return values_; }
  std::span<int32_t> ids() { return std::span(best_).subspan(best_.size() / 2); }
  // log P of every piece (N,V) after some rows of that step, at most `looks`; until the next call.
  static constexpr int64_t looks = 8;
  std::span<const float> look_again(std::span<const int32_t> rows);

 private:
  Matrix average(std::span<const IncrementalDecoder::Row> rows);
  void reserve(int64_t rows);
  bool ensemble() const { return decoders_.size() > 1; }

  Backend& backend_;
  int64_t vocabulary_;
  int top_;
  bool looks_again_;
  std::vector<std::unique_ptr<IncrementalDecoder>> decoders_;
  int64_t rows_ = 0;                        // what the following have room for
  void *sum_ = nullptr, *log_p_ = nullptr;  // (R,V) f32: of all models, of one
  void* top_best_ = nullptr;                // (R,top) values, then (R,top) ids
  void* looked_at_ = nullptr;               // (looks,V) f32
  Matrix last_;                             // of step(): one model's logits, or sum_
  std::vector<float> values_, whole_;
  std::vector<int32_t> best_;
};

}  // namespace tx
