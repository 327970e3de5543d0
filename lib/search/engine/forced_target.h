// Scores a given output: a search in which every step has one choice, the next token of the target.
#pragma once
#include "lib/search/engine/hypothesis.h"
#include "lib/search/options.h"

namespace tx {

class ForcedTarget : public SentenceSearch {
 public:
  // labels: the output's tokens, and <eos> unless it was cut; at least one. advance() needs Scores
  // of the whole vocabulary.
  ForcedTarget(const SearchOptions& options, std::vector<int> labels);
  void advance(const Scores& scores) override;
  std::vector<TokenHypothesis> results() const override;  // one, with the labels' own score

 private:
  double alpha_, log_p_ = 0;
  std::vector<int> labels_;
  size_t scored_ = 0;
  int32_t leaf_ = TokenTree::root;  // of the labels scored
};

}  // namespace tx
