#include "lib/search/engine/forced_target.h"

#include "lib/base/error.h"
#include "lib/subword/vocabulary.h"

namespace tx {

ForcedTarget::ForcedTarget(const SearchOptions& options, std::vector<int> labels)
    : alpha_(options.alpha), labels_(std::move(labels)) {
  TX_ASSERT(!labels_.empty());
  rows_.push_back({-1, Vocabulary::bos});
}

void ForcedTarget::advance(const Scores& scores) {
  TX_ASSERT(!done() && !scores.ids && labels_[scored_] < scores.width);
  const int label = labels_[scored_++];
  check_number(scores.log_p[label]);
  log_p_ += double(scores.log_p[label]);
  leaf_ = tree_->add(leaf_, label, scores.log_p[label]);
  rows_.clear();
  if (scored_ < labels_.size()) rows_.push_back({0, label, leaf_});
}

std::vector<TokenHypothesis> ForcedTarget::results() const {
  TX_ASSERT(done());
  TokenHypothesis h{labels_, log_p_, log_p_ / length_penalty(int64_t(labels_.size()), alpha_),
                    false, tree_->log_ps(leaf_)};
  h.complete = labels_.back() == Vocabulary::eos;
  if (h.complete) h.ids.pop_back();
  return {h};
}

}  // namespace tx
