#include "lib/eval/matching/ngrams.h"

#include <algorithm>

namespace tx {

namespace {

constexpr int32_t no_gram = -1;

// An n-gram as the number of its first n - 1 symbols and its last symbol.
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

// Only n-grams of the hypothesis count: one is looked up only if its prefix was found.
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

void GramCounter::reserve(size_t grams) {
  size_t size = std::max<size_t>(slots_.size(), 64);
  while (size < 2 * grams) size *= 2;
  if (size != slots_.size()) slots_.assign(size, Slot{});
}

GramCounter::Slot& GramCounter::slot(uint64_t key) {
  const size_t mask = slots_.size() - 1;
  size_t i = (key * 0x9E3779B97F4A7C15u >> 32) & mask;
  while (slots_[i].round == round_ && slots_[i].key != key) i = (i + 1) & mask;
  return slots_[i];
}

void GramCounter::count(std::span<const int32_t> a, std::span<const int32_t> b,
                        std::span<int64_t> matches) {
  reserve(a.size());
  in_a_.assign(a.size(), no_gram);
  in_b_.assign(b.size(), 0);
  std::fill(matches.begin(), matches.end(), 0);
  for (size_t order = 0; order < matches.size(); ++order) {
    if (a.size() <= order || b.size() <= order) break;
    if (++round_ == 0) {  // after an overflow no slot may appear used
      slots_.assign(slots_.size(), Slot{});
      round_ = 1;
    }
    int32_t grams = 0;
    for (size_t i = 0; i + order < a.size(); ++i) {
      const uint64_t gram = gram_key(in_a_[i], a[i + order]);
      Slot& found = slot(gram);
      if (found.round != round_) found = {gram, round_, grams++, 0};
      ++found.left;
      in_a_[i] = found.number;
    }
    for (size_t i = 0; i + order < b.size(); ++i) {
      // If a does not have the prefix, it does not have the n-gram.
      if (in_b_[i] == no_gram && order > 0) continue;
      Slot& found = slot(gram_key(order == 0 ? no_gram : in_b_[i], b[i + order]));
      in_b_[i] = found.round == round_ ? found.number : no_gram;
      if (in_b_[i] == no_gram || found.left == 0) continue;
      --found.left;
      ++matches[order];
    }
  }
}

}  // namespace tx
