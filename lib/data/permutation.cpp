#include "lib/data/permutation.h"

#include "lib/base/error.h"
#include "lib/base/philox.h"

namespace tx {
namespace {

constexpr uint32_t order_site = 0x70657264;  // keeps the order apart from other uses of the seed
constexpr int round_count = 6;               // four are pseudorandom; two more cost nothing here

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

}  // namespace tx
