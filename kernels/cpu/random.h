// Dropout masks of one row (view.h, Dropout).
#pragma once
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/simd.h"

namespace tx {

// Key (seed, site) and the first three words of the counter; the fourth counts blocks from `first`.
struct PhiloxRow {
  uint32_t seed, site, c0, c1, c2, first = 0;
};

// 16 random bits for each of `blocks` * 8 features.
void philox_row(const PhiloxRow& row, int64_t blocks, uint16_t* bits);

// The implementations of philox_row(), with the same bits.
void philox_row_plain(const PhiloxRow& row, int64_t blocks, uint16_t* bits);
void philox_row_avx512(const PhiloxRow& row, int64_t blocks, uint16_t* bits);  // x86-64 only

// For row i under `drop`, from `feature` on, a multiple of 8.
inline PhiloxRow philox_of(const Dropout& drop, int64_t i, int64_t feature = 0) {
  return {drop.seed,
          drop.site,
          uint32_t(drop.record->step),
          drop.keys.pair[i],
          drop.keys.position[i],
          uint32_t(feature / 8)};
}

// The mask of one row. Constants are copied: loops that read them by reference are not vectorised.
template <class A>
class DropRow {
 public:
  TX_INLINE DropRow(const Dropout& drop, const uint16_t* bits)
      : bits_(bits), threshold_(drop.threshold), scale_(A(drop.scale)) {}
  // Value j, or the values of a vector (lanes.h) from j on: scaled, or 0 if dropped, even for NaN.
  template <class V>
  TX_INLINE V operator()(int64_t j, const V& value) const {
    if constexpr (std::is_arithmetic_v<V>) {
      const A scaled = value * scale_;
      return bits_[j] < threshold_ ? A(0) : scaled;
    } else if constexpr (is_twice<V>) {
      return {(*this)(j, value.lo), (*this)(j + lanes_of<typename V::Half>, value.hi)};
    } else if constexpr (std::is_same_v<A, float>) {
      using Halves = typename Register<uint16_t, sizeof(V) / 2>::Memory;
      using Words = typename Register<uint32_t, sizeof(V)>::Type;
      const Halves& halves = *reinterpret_cast<const Halves*>(bits_ + j);
      return __builtin_convertvector(halves, Words) < threshold_ ? V{} : value * scale_;
    } else {
      V dropped = value;
      for (int l = 0; l < lanes_of<V>; ++l) dropped[l] = (*this)(j + l, A(value[l]));
      return dropped;
    }
  }

 private:
  const uint16_t* bits_;
  uint32_t threshold_;
  A scale_;
};

// A mask that drops nothing.
struct KeepRow {
  template <class V>
  TX_INLINE V operator()(int64_t, const V& value) const {
    return value;
  }
};

// Calls f with the mask of a row; bits null: no dropout.
template <class A, class F>
TX_INLINE void with_mask(const Dropout& drop, const uint16_t* bits, F&& f) {
  if (bits)
    f(DropRow<A>(drop, bits));
  else
    f(KeepRow());
}

// Draws the mask bits of row i into `bits`. Null without dropout.
struct MaskRow {
  const Dropout& drop;
  int64_t blocks;
  uint16_t* bits;
  const uint16_t* draw(int64_t i) const {
    if (!drop.threshold) return nullptr;
    philox_row(philox_of(drop, i), blocks, bits);
    return bits + drop.first;
  }
};

// A MaskRow of `features` features for each thread.
class MaskRows {
 public:
  MaskRows(const Dropout& drop, int64_t features, int threads)
      : drop_(drop),
        blocks_((drop.first + features + 7) / 8),
        bits_(threads, drop.threshold ? blocks_ * 8 : 0) {}
  MaskRow mine() const { return {drop_, blocks_, bits_.mine()}; }

 private:
  const Dropout& drop_;
  int64_t blocks_;
  ThreadRows<uint16_t> bits_;
};

}  // namespace tx
