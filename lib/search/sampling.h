// Outputs drawn piece by piece from the model's distribution, softmax(logits / temperature), cut to
// the top_k likeliest pieces and then to the likeliest ones that together have top_p. nbest outputs
// are drawn independently. A draw depends on (seed, line, output, position) alone: Philox4x32-10
// with key (seed) and counter (line, position, output).
#pragma once
#include "lib/search/hypothesis.h"
#include "lib/search/options.h"
#include "lib/search/utf8_guard.h"

namespace tx {

class Sampling : public SentenceSearch {
 public:
  // advance() needs Scores of the whole vocabulary. `line` is the number of the input line.
  Sampling(const SearchOptions& options, std::span<const int> forbidden, int64_t longest,
           int64_t line, const Utf8Guard* guard = nullptr);
  void advance(const Scores& scores) override;
  std::vector<PieceHypothesis> results() const override;  // the likeliest first

 private:
  struct Choice {
    float log_p;
    int32_t token;
  };
  struct Open {
    double log_p;
    int32_t leaf;
    uint32_t output;  // which of the nbest
    Utf8Guard::State state;
  };
  bool allows(const Utf8Guard::State& state, int32_t token) const {
    return !guard_ || guard_->allows(state, token, longest_ - 2 - length_);
  }
  void gather(std::span<const float> log_p, const Utf8Guard::State* state = nullptr);
  Choice draw(uint32_t output, bool again) const;
  Choice choose(const Open& open, std::span<const float> log_p);
  void follow(const Open& open, int32_t row, const Choice& choice);
  PieceHypothesis hypothesis(const Open& open, bool complete, int64_t length) const;

  SearchOptions options_;
  std::vector<int> forbidden_;
  int64_t longest_, line_, length_ = 0;
  const Utf8Guard* guard_;
  PieceTree tree_;
  std::vector<Open> open_, next_;
  std::vector<PieceHypothesis> finished_;
  std::vector<Choice> choices_;  // of the row at hand: what may be drawn,
  std::vector<double> weights_;  // and how likely each is, not normalised
};

}  // namespace tx
