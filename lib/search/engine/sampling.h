// Samples outputs token by token from softmax(logits / temperature), truncated to the top_k most
// probable tokens, then to the most probable tokens of total probability top_p, then to tokens with
// at least min_p times the probability of the best. The nbest outputs are independent. Random
// numbers are those of Philox4x32-10 with key (seed) and counter (line, position, output).
#pragma once
#include "lib/search/engine/hypothesis.h"
#include "lib/search/options.h"
#include "lib/search/rules/rule.h"

namespace tx {

class Sampling : public SentenceSearch {
 public:
  // advance() needs Scores of the whole vocabulary. All arguments must outlive this.
  Sampling(const SearchOptions& options, std::span<const int> forbidden, int64_t longest,
           const Source& source, const Rules& rules);
  void advance(const Scores& scores) override;
  std::vector<TokenHypothesis> results() const override;  // best first

 private:
  struct Choice {
    float log_p;
    int32_t token;  // -1: no token is allowed
  };
  struct Open {
    double log_p;
    int32_t leaf;
    uint32_t output;  // which of the nbest
  };
  void gather(std::span<const float> log_p, const OpenOutput* output = nullptr);
  bool may_follow(const OpenOutput& output, int token) const {
    return is_forced_ ? std::ranges::binary_search(forced_, token) : rules_.allows(output, token);
  }
  void drop_unlikely();
  Choice draw(uint32_t output, bool again) const;
  Choice choose(const Open& open, std::span<const float> log_p);
  void follow(const Open& open, int32_t row, const Choice& choice);
  TokenHypothesis hypothesis(const Open& open, int64_t length) const;

  const SearchOptions& options_;
  std::span<const int> forbidden_;
  int64_t longest_, length_ = 0;
  const Source& source_;
  const Rules& rules_;
  std::vector<Open> open_, next_;
  std::vector<TokenHypothesis> finished_;
  std::vector<Choice> choices_;  // the tokens to sample from after the current row
  std::vector<int> tokens_;      // of the current output
  bool is_forced_ = false;       // whether forced_ are the only tokens that may follow it
  std::vector<int> forced_;
  std::vector<double> weights_;  // of choices_: probabilities, not normalised
};

// Scores a given output: a search that always chooses the next token of the target.
class ForcedTarget : public SentenceSearch {
 public:
  // labels: at least one; <eos> unless cut. advance() needs Scores of the whole vocabulary.
  ForcedTarget(const SearchOptions& options, std::vector<int> labels);
  void advance(const Scores& scores) override;
  std::vector<TokenHypothesis> results() const override;  // one: the labels with their score

 private:
  double alpha_, log_p_ = 0;
  std::vector<int> labels_;
  size_t scored_ = 0;
  int32_t leaf_ = TokenTree::root;  // the last label scored
};

}  // namespace tx
