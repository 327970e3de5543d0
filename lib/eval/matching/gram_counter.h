// How many n-grams of two sequences match, for all orders up to the highest: an n-gram counts as
// often as it occurs in the sequence that has it less often.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tx {

class GramCounter {
 public:
  // matches[n - 1] = matches of order n, n = 1..matches.size(). Symbols are 0, 1, 2, ...
  void count(std::span<const int32_t> a, std::span<const int32_t> b, std::span<int64_t> matches);

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t round = 0;  // in use where equal to round_
    int32_t number = 0;
    int32_t left = 0;  // occurrences in a that b has not matched yet
  };
  void reserve(size_t grams);
  Slot& slot(uint64_t key);

  std::vector<Slot> slots_;  // a power of two, at most half full
  uint32_t round_ = 0;
  std::vector<int32_t> in_a_, in_b_;  // by position: the n-gram that begins there
};

}  // namespace tx
