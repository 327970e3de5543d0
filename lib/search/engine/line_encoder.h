// Runs a model of kind encoder on lines: vectors, or the tokens at masks. Batch-invariant.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "lib/model/packed_side.h"
#include "lib/search/engine/hypothesis.h"
#include "lib/search/engine/model_set.h"
#include "lib/search/source.h"

namespace tx {

// The first model of the set, used by one thread.
class LineEncoder {
 public:
  // choices: tokens for each mask.
  LineEncoder(Backend& backend, const ModelSet& models, int choices);
  ~LineEncoder() { backend_->release(buffer_); }

  // One output for each source, of which up to `at_a_time` tokens are encoded together: its vector,
  // or its tokens with the masks filled and the choices for each.
  std::vector<std::vector<TokenHypothesis>> run(std::span<const Source* const> sources,
                                                int64_t at_a_time);

 private:
  using Outputs = std::span<std::vector<TokenHypothesis>>;
  void run_batch(std::span<const Source* const> sources, Outputs out);
  void reserve(int64_t rows, size_t sentences);
  std::vector<float> download(Matrix from);
  void read_vectors(std::span<const Source* const> sources, Matrix hidden,
                    std::span<const int32_t> offsets, Outputs out);
  std::vector<MaskChoice> best_tokens(Matrix logits);

  Backend& backend_;
  const ModelSet& models_;
  int choices_;
  const Transformer& transformer_;
  std::vector<int> closing_;  // the tokens after each text
  DeviceSide side_;
  std::unique_ptr<Arena> arena_;
  size_t arena_bytes_ = 0, buffer_bytes_ = 0;
  void* buffer_ = nullptr;  // f32 buffer for downloads
};

}  // namespace tx
