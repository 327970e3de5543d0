// Allocates ranges of the numbers 0 .. size - 1. Incremental decoding keeps the cache rows of each
// sentence in one. First fit; free neighbours are merged; a range may be given back in parts.
#pragma once
#include <cstdint>
#include <iterator>
#include <map>

#include "lib/base/error.h"

namespace tx {

class RangeAllocator {
 public:
  explicit RangeAllocator(int64_t size = 0) : size_(size) {
    if (size > 0) free_[0] = size;
  }
  int64_t size() const { return size_; }

  // The first of `count` places in a row; -1 where no gap is large enough.
  int64_t take(int64_t count) {
    for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
      if (gap->second < count) continue;
      const auto [first, length] = *gap;
      free_.erase(gap);
      if (length > count) free_[first + count] = length - count;
      return first;
    }
    return -1;
  }
  void give(int64_t first, int64_t count) {
    TX_ASSERT(first >= 0 && count > 0 && first + count <= size_);
    const auto after = free_.lower_bound(first);
    TX_ASSERT(after == free_.end() || first + count <= after->first);
    if (after != free_.end() && first + count == after->first) {
      count += after->second;
      free_.erase(after);
    }
    const auto next = free_.lower_bound(first);
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      TX_ASSERT(before->first + before->second <= first);
      if (before->first + before->second == first) {
        before->second += count;
        return;
      }
    }
    free_[first] = count;
  }

 private:
  int64_t size_;
  std::map<int64_t, int64_t> free_;  // first -> count
};

}  // namespace tx
