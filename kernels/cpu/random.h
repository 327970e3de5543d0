// Dropout masks of one row (view.h, Dropout).
#pragma once
#include <vector>

#include "kernels/cpu/simd.h"

namespace tx {

// 16 random bits for each of `blocks` * 8 features: counter words (c0, c1, c2, block).
void philox_row(uint32_t seed, uint32_t site, uint32_t c0, uint32_t c1, uint32_t c2, int64_t blocks,
                uint16_t* bits);

// The mask of one row with its constants in registers: reading threshold and scale through a
// reference in the loop kept the compiler from vectorising it.
template <class A>
class DropRow {
 public:
  TX_INLINE DropRow(const Dropout& drop, const uint16_t* bits)
      : bits_(bits), threshold_(drop.threshold), scale_(A(drop.scale)) {}
  // Value j scaled, or 0 where it is dropped (whatever it holds).
  TX_INLINE A operator()(int64_t j, A value) const {
    const A scaled = value * scale_;
    return bits_[j] < threshold_ ? A(0) : scaled;
  }

 private:
  const uint16_t* bits_;
  uint32_t threshold_;
  A scale_;
};

// Draws the mask bits of row i with `features` features into a buffer that this object keeps.
class MaskRow {
 public:
  MaskRow(const Dropout& drop, int64_t features)
      : drop_(drop), blocks_((features + 7) / 8), bits_(drop.threshold ? size_t(blocks_) * 8 : 0) {}
  const uint16_t* draw(int64_t i) {
    philox_row(drop_.seed, drop_.site, uint32_t(drop_.record->step), drop_.keys.pair[i],
               drop_.keys.position[i], blocks_, bits_.data());
    return bits_.data();
  }

 private:
  const Dropout& drop_;
  int64_t blocks_;
  std::vector<uint16_t> bits_;
};

}  // namespace tx
