// The batches of a training, step by step. The host packs those of the next step while a GPU
// computes the present one. What is read ahead is not part of the state, so that a checkpoint loses
// nothing.
#pragma once
#include <memory>
#include <vector>

#include "lib/data/pair_links.h"
#include "lib/train/options/options.h"

namespace tx {

class Feed {
 public:
  // Of `batch_tokens` target rows a batch; `sentinels` of --denoise: PackerOptions. Text and
  // options outlive it. UsageError for a pair that is longer than a batch, and where merges are to
  // be left out of a vocabulary without merges.
  Feed(const IdCache& text, const Vocabularies& vocabularies, const TrainOptions& options,
       int batch_tokens, const std::vector<int>& sentinels = {});

  // How many times as long as in the text a sentence can be.
  static int growth(const TrainOptions& options) {
    return options.bpe_dropout > 0 ? PairDropout::max_growth : 1;
  }
  int growth() const { return growth(options_); }
  const std::vector<int>& capacities() const { return packer_->capacities(); }  // of each side
  const PairLengths& lengths() const { return packer_->lengths(); }
  int64_t epoch_tokens() const;  // over all sides, ends of sentences counted

  // The batches of the next step; the last step of the last epoch may have fewer than the others,
  // and after it there are none. They stay until next() is called again.
  const std::vector<Batch>& next();
  const std::vector<Batch>& batches() const { return batches_; }  // of the last step
  // Packs what next() will give, and returns it. Whenever it is called, next() gives the same.
  const std::vector<Batch>& read_ahead();
  int64_t epoch() const { return packer_->epoch(); }  // of the next batch, from 0

  // Where the last step ended: the member `packer` of the state file. restore() throws what
  // Packer::restore() does, Json::exception where the member is missing.
  Json state() const;
  void restore(const Json& state);

 private:
  const TrainOptions& options_;
  std::unique_ptr<PairDropout> dropout_;  // null: every merge is made
  std::unique_ptr<PairLinks> links_;      // null: the text has none
  std::unique_ptr<Packer> packer_;        // behind batches_
  std::unique_ptr<Packer> ahead_;         // behind next_; null: nothing is read ahead
  std::vector<Batch> batches_, next_;
};

}  // namespace tx
