#include "lib/tensor/arena.h"

#include <algorithm>

namespace tx {

Arena::Arena(Backend& backend, size_t capacity) : backend_(&backend), capacity_(capacity) {
  base_ = static_cast<char*>(backend->allocate(capacity));
}

Arena::~Arena() {
  if (backend_) (*backend_)->release(base_);
}

void* Arena::take(size_t bytes) {
  if (fresh_) free_[0] = capacity_;
  fresh_ = false;
  TX_ASSERT(bytes <= capacity_);  // so that rounding up cannot overflow
  bytes = std::max<size_t>(64, (bytes + 63) / 64 * 64);
  const auto hole =
      std::find_if(free_.begin(), free_.end(), [&](const auto& h) { return h.second >= bytes; });
  TX_ASSERT(hole != free_.end());
  const size_t offset = hole->first, left = hole->second - bytes;
  free_.erase(hole);
  if (left) free_[offset + bytes] = left;
  taken_[offset] = bytes;
  in_use_ += bytes;
  peak_ = std::max(peak_, offset + bytes);
  return base_ + offset;
}

void Arena::give(void* data) {
  const auto block = taken_.find(size_t(static_cast<char*>(data) - base_));
  TX_ASSERT(block != taken_.end());
  auto [offset, bytes] = *block;
  taken_.erase(block);
  in_use_ -= bytes;
  const auto next = free_.upper_bound(offset);
  if (next != free_.end() && next->first == offset + bytes) {
    bytes += next->second;
    free_.erase(next);
  }
  const auto after = free_.upper_bound(offset);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  free_[offset] = bytes;
}

}  // namespace tx
