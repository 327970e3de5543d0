// Allocators of memory and of ranges of rows, and the replay of recorded work.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <vector>

#include "kernels/backend.h"
#include "lib/base/error.h"

namespace tx {

// The memory that a block of `bytes` occupies: the CPU backend uses 2 MiB pages from 4 MiB on.
constexpr size_t held_bytes(size_t bytes) {
  constexpr size_t page = size_t(2) << 20;
  return bytes < 2 * page ? bytes : (bytes + page - 1) / page * page;
}

// One block of backend memory from which a step's tensors are allocated. Every step makes the same
// requests in the same order, so it gets the same addresses. A counting arena returns addresses
// that must not be accessed; it determines the peak before step 1.
class Arena {
 public:
  Arena() = default;                         // counts only
  Arena(Backend& backend, size_t capacity);  // Error if the allocation fails
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // First fit, 64-byte aligned. Bug if a real arena is exhausted: the plan was wrong.
  void* take(size_t bytes);
  void give(void* data, size_t bytes);  // as in take()
  bool counting() const { return backend_ == nullptr; }
  size_t peak() const { return peak_; }
  size_t in_use() const { return in_use_; }

 private:
  Backend* backend_ = nullptr;
  char* base_ = reinterpret_cast<char*>(64);
  size_t capacity_ = size_t(1) << 62, peak_ = 0, in_use_ = 0;
  struct Hole {
    size_t begin, end;  // offsets
  };
  std::vector<Hole> holes_{{0, capacity_}};  // ascending
};

// Allocates ranges of 0 .. size - 1, such as cache rows: first fit; returned in whole or in parts.
class RangeAllocator {
 public:
  explicit RangeAllocator(int64_t size = 0) : size_(size) {
    if (size > 0) free_[0] = size;
  }
  int64_t size() const { return size_; }

  // The first of `count` consecutive numbers; -1 if no gap is large enough.
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

// Whether the backend records a step's work and launches it again (replay(), CUDA graphs).
inline bool replays(Backend& backend) { return backend->has_own_memory(); }

// Runs `work`, or launches the work recorded with the same key.
inline void replay(Backend& backend, int64_t key, const std::function<void()>& work) {
  backend->replay(key, work);
}

// Must be called when the address of memory that recorded work uses has changed.
inline void forget_graphs(Backend& backend) { backend->forget_graphs(); }

}  // namespace tx
