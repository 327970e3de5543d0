// A seeded random order of 0..size-1 that needs no table: a Feistel network (Luby and Rackoff,
// 1988) over the next even number of bits, whose round function is Philox; a value that falls
// outside goes through it again until it falls inside (cycle walking: at most four times on
// average).
#pragma once
#include <cstdint>

namespace tx {

class Permutation {
 public:
  // The order of one epoch. size from 1 to 2^32 - 1.
  Permutation(uint64_t size, uint64_t seed, uint64_t epoch);
  // The element at `place`; a bijection of [0, size).
  uint64_t operator()(uint64_t place) const;

 private:
  uint64_t rounds(uint64_t value) const;

  uint64_t size_, seed_, epoch_;
  int half_bits_ = 1;
};

}  // namespace tx
