#include "lib/eval/matching/ngrams.h"

#include <algorithm>

namespace tx {

namespace {

constexpr int32_t none = Interner<uint64_t>::none;

// An n-gram as the number of its first n - 1 symbols, as an n-gram, and its last symbol.
uint64_t gram_key(int32_t prefix, int32_t symbol) {
  return uint64_t(uint32_t(prefix)) << 32 | uint32_t(symbol);
}

}  // namespace

NgramMatcher::NgramMatcher(int max_order) {
  counts_.total.resize(size_t(max_order));
  counts_.matched.resize(size_t(max_order));
}

void NgramMatcher::begin(const Tokens& hypothesis) {
  words_.clear();
  ngrams_.clear();
  seen_.clear();
  word_.clear();
  for (const std::string_view token : hypothesis) word_.push_back(words_.insert(token));
  // All n-grams of order 1 have the empty prefix, which has no number.
  ngram_.assign(hypothesis.size(), none);
  for (size_t order = 0; order < counts_.total.size(); ++order) {
    const size_t count = word_.size() > order ? word_.size() - order : 0;
    counts_.total[order] = int64_t(count);
    for (size_t i = 0; i < count; ++i) {
      ngram_[i] = ngrams_.insert(gram_key(ngram_[i], word_[i + order]));
      if (size_t(ngram_[i]) == seen_.size()) seen_.push_back({order});
      ++seen_[size_t(ngram_[i])].in_hypothesis;
    }
  }
}

// Only n-grams of the hypothesis count: one is looked up only if its prefix was found.
void NgramMatcher::add_reference(const Tokens& reference) {
  for (Seen& seen : seen_) seen.in_reference = 0;
  word_.clear();
  for (const std::string_view token : reference) word_.push_back(words_.find(token));
  ngram_.assign(reference.size(), none);
  for (size_t order = 0; order < counts_.total.size(); ++order) {
    for (size_t i = 0; i + order < word_.size(); ++i) {
      const bool prefix_known = order == 0 || ngram_[i] != none;
      const int32_t word = word_[i + order];
      ngram_[i] = prefix_known && word != none ? ngrams_.find(gram_key(ngram_[i], word)) : none;
      if (ngram_[i] != none) ++seen_[size_t(ngram_[i])].in_reference;
    }
  }
  for (Seen& seen : seen_) seen.max = std::max(seen.max, seen.in_reference);
}

const NgramCounts& NgramMatcher::finish() {
  std::fill(counts_.matched.begin(), counts_.matched.end(), 0);
  for (const Seen& seen : seen_)
    counts_.matched[seen.order] += std::min(seen.in_hypothesis, seen.max);
  return counts_;
}

void GramCounter::count(std::span<const int32_t> a, std::span<const int32_t> b,
                        std::span<int64_t> matches) {
  in_a_.assign(a.size(), none);
  in_b_.assign(b.size(), none);
  std::fill(matches.begin(), matches.end(), 0);
  for (size_t order = 0; order < matches.size(); ++order) {
    if (a.size() <= order || b.size() <= order) break;
    grams_.clear();
    left_.clear();
    for (size_t i = 0; i + order < a.size(); ++i) {
      in_a_[i] = grams_.insert(gram_key(in_a_[i], a[i + order]));
      if (size_t(in_a_[i]) == left_.size()) left_.push_back(0);
      ++left_[size_t(in_a_[i])];
    }
    for (size_t i = 0; i + order < b.size(); ++i) {
      // If a does not have the prefix, it does not have the n-gram.
      if (in_b_[i] == none && order > 0) continue;
      in_b_[i] = grams_.find(gram_key(in_b_[i], b[i + order]));
      if (in_b_[i] == none || left_[size_t(in_b_[i])] == 0) continue;
      --left_[size_t(in_b_[i])];
      ++matches[order];
    }
  }
}

}  // namespace tx
