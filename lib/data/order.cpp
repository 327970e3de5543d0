#include "lib/data/order.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/base/error.h"
#include "lib/base/philox.h"

namespace tx {

namespace {

constexpr uint32_t order_site = 0x70657264;  // distinguishes the order from other uses of the seed
constexpr int round_count = 6;               // four are pseudorandom; two more cost little

// The number of pairs at the end of a batch that are chosen by size, to compensate the difference
// of the sides, about 2.5 sqrt(n) rows for n pairs by age. Multi30k at 25,000 rows, source rows in
// use: 99.80 % with 6, 99.88 with 12, 99.93 with 24, which takes 1.5 times as long.
constexpr double chosen_pairs = 12;

}  // namespace

Permutation::Permutation(uint64_t size, uint64_t seed, uint64_t epoch)
    : size_(size), seed_(seed), epoch_(epoch) {
  TX_ASSERT(size >= 1 && size < (uint64_t(1) << 32));
  while ((uint64_t(1) << (2 * half_bits_)) < size) ++half_bits_;
}

uint64_t Permutation::rounds(uint64_t value) const {
  const uint32_t mask = (uint32_t(1) << half_bits_) - 1;
  uint32_t left = uint32_t(value >> half_bits_), right = uint32_t(value) & mask;
  for (uint32_t round = 0; round < round_count; ++round) {
    const auto block = Philox::block(uint32_t(seed_), uint32_t(seed_ >> 32) ^ order_site, right,
                                     round, uint32_t(epoch_), uint32_t(epoch_ >> 32));
    const uint32_t mixed = left ^ (block.word[0] & mask);
    left = right;
    right = mixed;
  }
  return (uint64_t(left) << half_bits_) | right;
}

uint64_t Permutation::operator()(uint64_t place) const {
  TX_ASSERT(place < size_);
  do place = rounds(place);
  while (place >= size_);
  return place;
}

Window::Window(std::vector<double> mean_rows) : mean_(std::move(mean_rows)), rows_(mean_.size()) {}

void Window::add(const Candidate& candidate, const std::vector<int>& rows) {
  candidates_.push_back(candidate);
  for (size_t s = 0; s < rows_.size(); ++s) rows_[s].push_back(rows[s]);
}

void Window::clear() {
  candidates_.clear();
  for (auto& side : rows_) side.clear();
}

bool Window::fits(size_t i, const std::vector<int>& free_rows) const {
  if (rows_[0][i] == 0) return false;
  for (size_t s = 0; s < rows_.size(); ++s)
    if (rows_[s][i] > free_rows[s]) return false;
  return true;
}

double Window::pairs_left(const std::vector<int>& free_rows) const {
  double pairs = std::numeric_limits<double>::infinity();
  for (size_t s = 0; s < mean_.size(); ++s) pairs = std::min(pairs, free_rows[s] / mean_[s]);
  return pairs;
}

size_t Window::oldest(size_t from, const std::vector<int>& free_rows) const {
  for (size_t i = from; i < candidates_.size(); ++i)
    if (fits(i, free_rows)) return i;
  return none;
}

size_t Window::nearest(const std::vector<double>& wanted, const std::vector<int>& free_rows) const {
  size_t best = none;
  double min = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (!fits(i, free_rows)) continue;
    double distance = 0;
    for (size_t s = 0; s < mean_.size(); ++s)
      distance += std::abs(rows_[s][i] - wanted[s]) / mean_[s];
    if (distance < min) {
      min = distance;
      best = i;
    }
  }
  return best;
}

std::vector<Candidate> Window::take(std::vector<int> free_rows) {
  std::vector<Candidate> taken;
  std::vector<double> wanted(free_rows.size());
  size_t next = 0;
  for (;;) {
    const double pairs = pairs_left(free_rows);
    size_t chosen;
    if (taken.empty() || pairs > chosen_pairs) {
      chosen = oldest(next, free_rows);
      next = chosen + 1;
    } else {
      const double share = std::max(1.0, std::round(pairs));
      for (size_t s = 0; s < free_rows.size(); ++s) wanted[s] = free_rows[s] / share;
      chosen = nearest(wanted, free_rows);
    }
    if (chosen == none) break;
    taken.push_back(candidates_[chosen]);
    for (size_t s = 0; s < free_rows.size(); ++s) {
      free_rows[s] -= rows_[s][chosen];
      rows_[s][chosen] = 0;
    }
  }
  compact();
  return taken;
}

void Window::compact() {
  size_t kept = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (rows_[0][i] == 0) continue;
    candidates_[kept] = candidates_[i];
    for (auto& side : rows_) side[kept] = side[i];
    ++kept;
  }
  candidates_.resize(kept);
  for (auto& side : rows_) side.resize(kept);
}

}  // namespace tx
