// Outputs drawn token by token from the model's distribution, softmax(logits / temperature), cut to
// the top_k likeliest tokens, then to the likeliest ones that together have top_p, then to those
// that are at least min_p times as likely as the likeliest. nbest outputs are drawn independently.
// A draw depends on (seed, line, output, position) alone: Philox4x32-10 with key (seed) and counter
// (line, position, output).
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
  std::vector<TokenHypothesis> results() const override;  // the likeliest first

 private:
  struct Choice {
    float log_p;
    int32_t token;  // -1: nothing may follow
  };
  struct Open {
    double log_p;
    int32_t leaf;
    uint32_t output;  // which of the nbest
  };
  void gather(std::span<const float> log_p, const OpenOutput* output = nullptr);
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
  std::vector<Choice> choices_;  // of the row at hand: what may be drawn,
  std::vector<int> tokens_;      // of the output at hand
  std::vector<double> weights_;  // and how likely each is, not normalised
};

}  // namespace tx
