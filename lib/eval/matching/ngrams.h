// Counting and matching n-grams.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/eval/tokenizers/unicode.h"

namespace tx {

// Numbers for keys: 0 for the first key, 1 for the next new one, and so on. Made for many small
// sets in sequence (the words or n-grams of one segment): clear() is free and keeps the memory.
template <typename Key>  // std::string_view (the caller keeps the bytes alive) or uint64_t
class Interner {
 public:
  static constexpr int32_t none = -1;

  Interner() : slots_(64) {}

  void clear() {
    size_ = 0;
    ++round_;
  }

  int32_t size() const { return size_; }

  // The number of key, or none.
  int32_t find(const Key& key) const {
    const Slot& slot = slots_[place(key)];
    return slot.round == round_ ? slot.number : none;
  }

  // The number of the key, a new one if it is new since clear().
  int32_t insert(const Key& key) {
    if (size_t(size_) * 2 >= slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    if (slot.round != round_) slot = {key, round_, size_++};
    return slot.number;
  }

 private:
  struct Slot {
    Key key{};
    uint64_t round = 0;  // used if equal to round_
    int32_t number = none;
  };

  // The slot of the key, or the free one for it: linear probing in a table at most half full.
  size_t place(const Key& key) const {
    const size_t mask = slots_.size() - 1;
    size_t i = (std::hash<Key>{}(key)*golden_ratio >> 32) & mask;
    while (slots_[i].round == round_ && slots_[i].key != key) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.round == round_) slots_[place(slot.key)] = slot;
  }

  // std::hash of an integer is the identity: the product spreads it over the upper bits.
  static constexpr uint64_t golden_ratio = 0x9E3779B97F4A7C15u;

  std::vector<Slot> slots_;  // a power of two
  uint64_t round_ = 1;
  int32_t size_ = 0;
};

// Index n - 1 holds order n.
struct NgramCounts {
  std::vector<int64_t> total;    // n-grams of the hypothesis
  std::vector<int64_t> matched;  // clipped counts: each n-gram at most as often as in the
                                 // reference with most occurrences (Papineni et al., 2002)
};

// The n-grams that a hypothesis shares with its references, for one segment at a time.
class NgramMatcher {
 public:
  explicit NgramMatcher(int max_order);
  void begin(const Tokens& hypothesis);  // its text must live until finish()
  void add_reference(const Tokens& reference);
  const NgramCounts& finish();

 private:
  struct Seen {
    size_t order;  // minus 1
    int64_t in_hypothesis = 0, in_reference = 0, max = 0;
  };
  Interner<std::string_view> words_;   // of the hypothesis
  Interner<uint64_t> ngrams_;          // of the hypothesis
  std::vector<Seen> seen_;             // by n-gram
  std::vector<int32_t> word_, ngram_;  // by position: the word, the n-gram that begins there
  NgramCounts counts_;
};

// Matching n-grams of two sequences, each as often as in the sequence in which it is rarer.
class GramCounter {
 public:
  // matches[n - 1] = matches of order n, n = 1..matches.size(). Symbols are 0, 1, 2, ...
  void count(std::span<const int32_t> a, std::span<const int32_t> b, std::span<int64_t> matches);

 private:
  Interner<uint64_t> grams_;          // of one order, of a
  std::vector<int32_t> left_;         // by n-gram: its unmatched occurrences in a
  std::vector<int32_t> in_a_, in_b_;  // by position: the n-gram that begins there
};

}  // namespace tx
