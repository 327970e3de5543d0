// One block of backend memory from which a step's tensors are cut. Every step makes the same
// requests in the same order, so the addresses are the same too. A counting arena hands out
// addresses that must not be touched, and finds the peak before step 1.
#pragma once
#include <cstddef>
#include <map>

#include "kernels/backend.h"

namespace tx {

// What a block of `bytes` takes: the CPU backend puts blocks of 4 MiB and more in pages of 2 MiB.
constexpr size_t held_bytes(size_t bytes) {
  constexpr size_t page = size_t(2) << 20;
  return bytes < 2 * page ? bytes : (bytes + page - 1) / page * page;
}

class Arena {
 public:
  Arena() = default;                         // counts only
  Arena(Backend& backend, size_t capacity);  // throws Error when the memory is refused
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // First fit, 64-byte aligned. A real arena that runs out is a Bug: the plan was wrong.
  void* take(size_t bytes);
  void give(void* data);
  bool counting() const { return backend_ == nullptr; }
  size_t peak() const { return peak_; }
  size_t in_use() const { return in_use_; }

 private:
  Backend* backend_ = nullptr;
  char* base_ = reinterpret_cast<char*>(64);
  size_t capacity_ = size_t(1) << 62, peak_ = 0, in_use_ = 0;
  std::map<size_t, size_t> free_;   // offset -> bytes
  std::map<size_t, size_t> taken_;  // offset -> bytes
  bool fresh_ = true;
};

}  // namespace tx
