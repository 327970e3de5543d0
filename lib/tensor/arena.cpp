#include "lib/tensor/arena.h"

#include <algorithm>

namespace tx {

namespace {

size_t rounded(size_t bytes) { return std::max<size_t>(64, (bytes + 63) / 64 * 64); }

}  // namespace

Arena::Arena(Backend& backend, size_t capacity) : backend_(&backend), capacity_(capacity) {
  base_ = static_cast<char*>(backend->allocate(capacity));
}

Arena::~Arena() {
  if (backend_) (*backend_)->release(base_);
}

void* Arena::take(size_t bytes) {
  TX_ASSERT(bytes <= capacity_);  // so that rounding up cannot overflow
  bytes = rounded(bytes);
  const auto hole =
      std::ranges::find_if(holes_, [&](const Hole& h) { return h.end - h.begin >= bytes; });
  TX_ASSERT(hole != holes_.end());
  const size_t offset = hole->begin;
  hole->begin += bytes;
  if (hole->begin == hole->end) holes_.erase(hole);
  in_use_ += bytes;
  peak_ = std::max(peak_, offset + bytes);
  return base_ + offset;
}

void Arena::give(void* data, size_t bytes) {
  const auto begin = size_t(static_cast<char*>(data) - base_), end = begin + rounded(bytes);
  const auto next = std::ranges::upper_bound(holes_, begin, {}, &Hole::begin);
  const auto before = next == holes_.begin() ? holes_.end() : std::prev(next);
  TX_ASSERT(next == holes_.end() || end <= next->begin);
  TX_ASSERT(before == holes_.end() || before->end <= begin);
  in_use_ -= end - begin;
  const bool joins_next = next != holes_.end() && next->begin == end;
  const bool joins_before = before != holes_.end() && before->end == begin;
  if (joins_before) {
    before->end = joins_next ? next->end : end;
    if (joins_next) holes_.erase(next);
  } else if (joins_next) {
    next->begin = begin;
  } else {
    holes_.insert(next, {begin, end});
  }
}

}  // namespace tx
