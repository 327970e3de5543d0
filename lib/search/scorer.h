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
  Scorer(Backend& backend, std::span<const Transformer* const> models, DType dtype, int top);
  ~Scorer();
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  // As those of IncrementalDecoder.
  void open(const IncrementalDecoder::Capacity& capacity);
  size_t bytes(const IncrementalDecoder::Capacity& capacity);
  bool admit(const IncrementalDecoder::Sources& sources, std::span<const int64_t> longest,
             int width);
  void release(int32_t sentence);
  // In host memory, valid until the next call.
  Scores step(std::span<const IncrementalDecoder::Row> rows);

 private:
  Matrix average(std::span<const IncrementalDecoder::Row> rows);
  void reserve(int64_t rows);
  bool ensemble() const { return decoders_.size() > 1; }

  Backend& backend_;
  int64_t vocabulary_;
  int top_;
  std::vector<std::unique_ptr<IncrementalDecoder>> decoders_;
  int64_t rows_ = 0;                        // that the following have room for
  void *sum_ = nullptr, *log_p_ = nullptr;  // (R,V) f32: of all models, of one
  void* top_best_ = nullptr;                // (R,top) values, then (R,top) ids
  std::vector<float> values_;
  std::vector<int32_t> best_;
};

}  // namespace tx
