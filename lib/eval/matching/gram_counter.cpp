#include "lib/eval/matching/gram_counter.h"

#include <algorithm>

namespace tx {
namespace {

constexpr int32_t none = -1;

// An n-gram is the number of its first n - 1 symbols and its last symbol: exact, without ever
// building the n-gram.
uint64_t key(int32_t prefix, int32_t symbol) {
  return uint64_t(uint32_t(prefix)) << 32 | uint32_t(symbol);
}

}  // namespace

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
  in_a_.assign(a.size(), none);
  in_b_.assign(b.size(), 0);
  std::fill(matches.begin(), matches.end(), 0);
  for (size_t order = 0; order < matches.size(); ++order) {
    if (a.size() <= order || b.size() <= order) break;
    if (++round_ == 0) {  // the counter has wrapped round: no slot may look used
      slots_.assign(slots_.size(), Slot{});
      round_ = 1;
    }
    int32_t grams = 0;
    for (size_t i = 0; i + order < a.size(); ++i) {
      const uint64_t gram = key(in_a_[i], a[i + order]);
      Slot& found = slot(gram);
      if (found.round != round_) found = {gram, round_, grams++, 0};
      ++found.left;
      in_a_[i] = found.number;
    }
    for (size_t i = 0; i + order < b.size(); ++i) {
      // An n-gram that a lacks has no longer n-gram in a either.
      if (in_b_[i] == none && order > 0) continue;
      Slot& found = slot(key(order == 0 ? none : in_b_[i], b[i + order]));
      in_b_[i] = found.round == round_ ? found.number : none;
      if (in_b_[i] == none || found.left == 0) continue;
      --found.left;
      ++matches[order];
    }
  }
}

}  // namespace tx
