// The batches of a training, step by step. The host packs those of the next step while a GPU
// computes the present one. What is read ahead is not part of the state, so that a checkpoint loses
// nothing.
#pragma once
#include <memory>
#include <vector>

#include "lib/data/pair_links.h"

namespace tx {

struct FeedSettings {
  int batch_tokens = 4096;     // target rows of a batch
  int accumulate = 1;          // batches of a step
  int64_t epochs = 0;          // after so many there are no more batches; 0: never
  uint64_t seed = 1;           // of the order and of the merges left out
  double merge_dropout = 0;    // probability that a merge is left out (PairDropout)
  bool masked = false;         // of a masked language model
  std::vector<int> sentinels;  // of --denoise: PackerOptions
  int64_t dropout_epochs = 0;  // they are left out in the first so many epochs; 0: in all
  bool shift_links = false;    // of a text with links; see PairLinks

  // How many times as long as in the text a sentence can be.
  int growth() const { return merge_dropout > 0 ? PairDropout::most_growth : 1; }
};

class Feed {
 public:
  // The text outlives it. UsageError for a pair that is longer than a batch, and where merges are
  // to be left out of a vocabulary without merges.
  Feed(const IdCache& text, const Vocabularies& vocabularies, const FeedSettings& settings);

  const std::vector<int>& capacities() const { return packer_->capacities(); }  // of each side
  int growth() const { return settings_.growth(); }
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
  FeedSettings settings_;
  std::unique_ptr<PairDropout> dropout_;  // null: every merge is made
  std::unique_ptr<PairLinks> links_;      // null: the text has none
  std::unique_ptr<Packer> packer_;        // behind batches_
  std::unique_ptr<Packer> ahead_;         // behind next_; null: nothing is read ahead
  std::vector<Batch> batches_, next_;
};

}  // namespace tx
