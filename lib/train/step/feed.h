// The batches of training, step by step, and those of a validation.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "kernels/view.h"
#include "lib/data/cache.h"
#include "lib/data/links.h"
#include "lib/data/packing.h"
#include "lib/ranks/communicator.h"
#include "lib/train/options/options.h"

namespace tx {

// Packs the next step's batches while a GPU computes; what is read ahead is not in the state.
class Feed {
 public:
  // Batches of `batch_tokens` target rows; `sentinels` of --denoise: PackerOptions. Text and
  // options outlive it. UsageError for a pair longer than a batch, and BPE-dropout without merges.
  Feed(const IdCache& text, const Vocabularies& vocabularies, const TrainOptions& options,
       int batch_tokens, const std::vector<int>& sentinels = {});

  // The maximum factor by which BPE-dropout lengthens a sentence; 1 without it.
  static int growth(const TrainOptions& options) {
    return options.bpe_dropout > 0 ? PairDropout::max_growth : 1;
  }
  int growth() const { return growth(options_); }
  const std::vector<int>& capacities() const { return packer_->capacities(); }  // of each side
  const PairLengths& lengths() const { return packer_->lengths(); }
  int64_t epoch_tokens() const;  // over all sides, ends of sentences included
  // The number of steps of the first `epochs` epochs, or `max` if that is less (0: no limit).
  int64_t steps(int64_t epochs, int64_t max) const;

  // The next step's batches: fewer in the last step, none after it. Valid until the next call.
  const std::vector<Batch>& next();
  const std::vector<Batch>& batches() const { return batches_; }  // of the last step
  int64_t step_tokens() const;                                    // of these, over all sides
  // Packs and returns what next() will return; next() gives the same with or without this call.
  const std::vector<Batch>& read_ahead();
  int64_t epoch() const { return packer_->epoch(); }  // of the next batch, from 0

  // The position after the last step: the member `packer` of the state file. restore() throws what
  // Packer::restore() does, and Json::exception if the member is missing.
  Json state() const { return Json{{"packer", packer_->state()}}; }
  void restore(const Json& state);

 private:
  const TrainOptions& options_;
  std::unique_ptr<PairDropout> dropout_;  // null without BPE-dropout
  std::unique_ptr<PairLinks> links_;      // null if the text has no alignments
  std::unique_ptr<Packer> packer_;        // positioned after batches_
  std::unique_ptr<Packer> ahead_;         // positioned after next_; null: nothing is read ahead
  std::vector<Batch> batches_, next_;
};

// One pass over the validation text, each rank measuring a contiguous range of its batches. The
// sums of the batches are added in order, so the result is bit-identical for any number of ranks.
class ValidPass {
 public:
  // Adds the loss sums of a batch, as Stepper::evaluate() does.
  using Evaluate = std::function<void(const Batch& batch, StepRecord& sums)>;

  // Reads the text in order, with the same masked tokens at every pass. `masked`, `sentinels`: of
  // PackerOptions. UsageError for a sentence longer than its capacity. `text` outlives it.
  ValidPass(const IdCache& text, const std::vector<int>& capacities, bool masked = false,
            const std::vector<int>& sentinels = {});
  // Collective; returns the sums of all batches on every rank. Null: a single rank.
  StepRecord run(Communicator* ranks, const Evaluate& evaluate);

 private:
  std::unique_ptr<Packer> packer() const { return std::make_unique<Packer>(text_, packing_); }

  const IdCache& text_;
  PackerOptions packing_;
  int batches_ = 0;  // 0: not counted yet
};

}  // namespace tx
