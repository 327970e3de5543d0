#include "lib/search/engine/sampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "lib/base/error.h"
#include "lib/base/philox.h"
#include "lib/subword/vocabulary.h"

namespace tx {
namespace {

constexpr uint32_t sampling_site = 0x20000;  // differs from those of dropout and initialisation

// Each position has two random numbers: the second is for a token that is sampled again.
double uniform(uint64_t seed, int64_t line, int64_t position, uint32_t output, bool second) {
  const Philox::Block b =
      Philox::block(uint32_t(seed), uint32_t(seed >> 32) ^ sampling_site, uint32_t(line),
                    uint32_t(uint64_t(line) >> 32), uint32_t(position), output);
  const int at = second ? 2 : 0;
  return double((uint64_t(b.word[at]) << 32 | b.word[at + 1]) >> 11) * 0x1p-53;
}

}  // namespace

Sampling::Sampling(const SearchOptions& options, std::span<const int> forbidden, int64_t longest,
                   const Source& source, const Rules& rules)
    : options_(options), forbidden_(forbidden), longest_(longest), source_(source), rules_(rules) {
  TX_ASSERT(options.nbest >= 1 && options.temperature > 0 && longest >= 1);
  rows_.push_back({-1, Vocabulary::bos});
}

// Sets choices_ and weights_ for a row. Truncation: more probable first, ties by the lower token.
void Sampling::gather(std::span<const float> log_p, const OpenOutput* output) {
  choices_.clear();
  for (size_t i = 0; i < log_p.size(); ++i) {
    if (std::find(forbidden_.begin(), forbidden_.end(), int(i)) != forbidden_.end()) continue;
    if (output && !may_follow(*output, int(i))) continue;
    check_number(log_p[i]);
    if (std::isinf(log_p[i])) continue;  // not on the line's list
    choices_.push_back({log_p[i], int32_t(i)});
  }
  const size_t k =
      options_.top_k > 0 ? std::min(choices_.size(), size_t(options_.top_k)) : choices_.size();
  if (k < choices_.size() || options_.top_p < 1) {
    const auto likelier = [](const Choice& a, const Choice& b) {
      return a.log_p != b.log_p ? a.log_p > b.log_p : a.token < b.token;
    };
    std::partial_sort(choices_.begin(), choices_.begin() + ptrdiff_t(k), choices_.end(), likelier);
    choices_.resize(k);
  }
  weights_.clear();
  if (choices_.empty()) return;
  const auto max = std::max_element(choices_.begin(), choices_.end(),
                                    [](auto& a, auto& b) { return a.log_p < b.log_p; });
  for (const Choice& c : choices_)
    weights_.push_back(std::exp(double(c.log_p - max->log_p) / options_.temperature));
  if (options_.top_p < 1) {
    double left = options_.top_p * std::accumulate(weights_.begin(), weights_.end(), 0.0);
    size_t kept = 0;
    while (kept < weights_.size() && left > 0) left -= weights_[kept++];
    choices_.resize(kept);
    weights_.resize(kept);
  }
  if (options_.min_p > 0) drop_unlikely();
}

// The most probable token has weight 1.
void Sampling::drop_unlikely() {
  size_t kept = 0;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] < options_.min_p) continue;
    choices_[kept] = choices_[i];
    weights_[kept++] = weights_[i];
  }
  choices_.resize(kept);
  weights_.resize(kept);
}

Sampling::Choice Sampling::draw(uint32_t output, bool again) const {
  double left = uniform(options_.seed, source_.line, length_, output, again) *
                std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (size_t i = 0; i + 1 < choices_.size(); ++i) {
    left -= weights_[i];
    if (left < 0) return choices_[i];
  }
  return choices_.back();
}

// If the sampled token is not allowed, samples again from the allowed tokens. Each of them thus
// keeps its relative probability, and an output without such a token is the same as without rules.
Sampling::Choice Sampling::choose(const Open& open, std::span<const float> log_p) {
  tree_->path(open.leaf, tokens_);
  const OpenOutput output{tokens_, longest_ - 2 - length_, &source_};
  is_forced_ = rules_.forced(output, forced_);
  if (forced_.size() == 1) return {log_p[size_t(forced_[0])], forced_[0]};
  if (choices_.empty()) return {0, -1};  // a model may forbid all its tokens
  const Choice first = draw(open.output, false);
  if (may_follow(output, first.token)) return first;
  gather(log_p, &output);
  return choices_.empty() ? Choice{0, -1} : draw(open.output, true);
}

TokenHypothesis Sampling::hypothesis(const Open& open, int64_t length) const {
  const double penalty = length_penalty(length, options_.alpha);
  return {tree_->path(open.leaf), open.log_p, open.log_p / penalty, false,
          tree_->log_ps(open.leaf)};
}

void Sampling::follow(const Open& open, int32_t row, const Choice& choice) {
  const Open after{open.log_p + double(choice.log_p), open.leaf, open.output};
  if (choice.token == Vocabulary::eos) {
    finished_.push_back(hypothesis(after, length_ + 1));
    finished_.back().complete = true;
    finished_.back().token_log_p.push_back(choice.log_p);
  } else if (choice.token < 0 || length_ + 1 == longest_) {
    finished_.push_back(hypothesis(open, length_));
  } else {
    next_.push_back({after.log_p, tree_->add(open.leaf, choice.token, choice.log_p), open.output});
    rows_.push_back({row, choice.token, next_.back().leaf});
  }
}

void Sampling::advance(const Scores& scores) {
  TX_ASSERT(!done() && !scores.ids);
  rows_.clear();
  next_.clear();
  const auto row_of = [&](size_t row) {
    return std::span(scores.log_p + row * size_t(scores.width), size_t(scores.width));
  };
  if (length_ == 0) {
    for (uint32_t i = 0; i < uint32_t(options_.nbest); ++i) {
      gather(row_of(0));  // again: choose() may have left fewer choices
      const Open start{0, TokenTree::root, i};
      follow(start, 0, choose(start, row_of(0)));
    }
  }
  for (size_t row = 0; row < open_.size(); ++row) {
    gather(row_of(row));
    follow(open_[row], int32_t(row), choose(open_[row], row_of(row)));
  }
  open_.swap(next_);
  ++length_;
}

std::vector<TokenHypothesis> Sampling::results() const {
  TX_ASSERT(done());
  std::vector<TokenHypothesis> out = finished_;
  std::ranges::stable_sort(out, std::ranges::greater(), &TokenHypothesis::score);
  return out;
}

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
