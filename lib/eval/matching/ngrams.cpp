#include "lib/eval/matching/ngrams.h"

#include <algorithm>

namespace tx {

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
  // The empty prefix is not an n-gram; all n-grams of order 1 share it.
  ngram_.assign(hypothesis.size(), Interner<uint64_t>::none);
  for (size_t order = 0; order < counts_.total.size(); ++order) {
    const size_t count = word_.size() > order ? word_.size() - order : 0;
    counts_.total[order] = int64_t(count);
    for (size_t i = 0; i < count; ++i) {
      ngram_[i] = ngrams_.insert(key(ngram_[i], word_[i + order]));
      if (size_t(ngram_[i]) == seen_.size()) seen_.push_back({order});
      ++seen_[size_t(ngram_[i])].in_hypothesis;
    }
  }
}

// Only n-grams of the hypothesis matter: one is looked up only where its prefix was found.
void NgramMatcher::add_reference(const Tokens& reference) {
  constexpr int32_t none = Interner<uint64_t>::none;
  for (Seen& seen : seen_) seen.in_reference = 0;
  word_.clear();
  for (const std::string_view token : reference) word_.push_back(words_.find(token));
  ngram_.assign(reference.size(), none);
  for (size_t order = 0; order < counts_.total.size(); ++order) {
    for (size_t i = 0; i + order < word_.size(); ++i) {
      const bool prefix_known = order == 0 || ngram_[i] != none;
      const int32_t word = word_[i + order];
      ngram_[i] = prefix_known && word != none ? ngrams_.find(key(ngram_[i], word)) : none;
      if (ngram_[i] != none) ++seen_[size_t(ngram_[i])].in_reference;
    }
  }
  for (Seen& seen : seen_) seen.max = std::max(seen.max, seen.in_reference);
}

const NgramCounts& NgramMatcher::finish() {
  std::fill(counts_.matched.begin(), counts_.matched.end(), 0);
  for (const Seen& seen : seen_) {
    counts_.matched[seen.order] += std::min(seen.in_hypothesis, seen.max);
  }
  return counts_;
}

}  // namespace tx
