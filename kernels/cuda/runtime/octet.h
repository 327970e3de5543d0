// An octet is 8 consecutive features of a row, those masked by one Philox block; 16 bytes of bf16.
// Threads hold whole octets, so that each block is drawn once, and divide a row in the same way in
// packs and element by element, so that results do not depend on alignment.
#pragma once
#include "kernels/cuda/runtime/device.h"

namespace tx {

constexpr int octet = 8;

// In 32-bit words, as in memory: loads in packs and element by element fill the same registers,
// without a conversion, which would have to wait for the loads.
template <class T>
struct Octet {
  static constexpr int packs = octet * int(sizeof(T)) / 16;
  uint32_t word[4 * packs];

  TX_DEVICE float operator[](int j) const {
    if constexpr (sizeof(T) == 4) return __uint_as_float(word[j]);
    return __uint_as_float(j % 2 ? word[j / 2] & 0xffff0000u : word[j / 2] << 16);
  }
};

TX_DEVICE uint32_t bits_of(float x) { return __float_as_uint(x); }
TX_DEVICE uint32_t bits_of(bf16 x) { return x.bits; }
TX_DEVICE void from_bits(float& x, uint32_t bits) { x = __uint_as_float(bits); }
TX_DEVICE void from_bits(bf16& x, uint32_t bits) { x.bits = uint16_t(bits); }

template <class T>
TX_DEVICE T* row_of(const Matrix& m, int64_t i) {
  return static_cast<T*>(m.data) + i * m.stride;
}

// How many features the octet at `column` has; 0 beyond the row.
TX_DEVICE int octet_size(int64_t cols, int64_t column) {
  const int64_t left = cols - column;
  return left >= octet ? octet : left > 0 ? int(left) : 0;
}

// The same; with packs there are no parts of an octet.
template <bool packed>
TX_DEVICE int octet_count(int64_t cols, int64_t column) {
  if (packed) return column < cols ? octet : 0;
  return octet_size(cols, column);
}

// Element by element unless `packed`; 0 from `count` on.
template <class T>
TX_DEVICE Octet<T> read_octet(const T* from, int count, bool packed) {
  constexpr int each = 4 / int(sizeof(T));  // elements of a word
  Octet<T> x;
  if (packed) {
#pragma unroll
    for (int i = 0; i < Octet<T>::packs; ++i) {
      const uint4 pack = reinterpret_cast<const uint4*>(from)[i];
      x.word[4 * i] = pack.x, x.word[4 * i + 1] = pack.y;
      x.word[4 * i + 2] = pack.z, x.word[4 * i + 3] = pack.w;
    }
  } else {
#pragma unroll
    for (int w = 0; w < octet / each; ++w) {
      x.word[w] = 0;
#pragma unroll
      for (int e = 0; e < each; ++e)
        if (w * each + e < count) x.word[w] |= bits_of(from[w * each + e]) << 16 * e;
    }
  }
  return x;
}

// Stores 16 bytes to global memory by one instruction. An assignment of a uint4 does not guarantee
// that: nvcc split it into four stores in pass_kernel (tests/gpu/sass.sh checks).
TX_DEVICE void store_pack(void* to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
#ifdef __CUDA_ARCH__
  asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(__cvta_generic_to_global(to)), "r"(a),
               "r"(b), "r"(c), "r"(d)
               : "memory");
#else
  *static_cast<uint4*>(to) = make_uint4(a, b, c, d);
#endif
}

template <class T>
TX_DEVICE void write_octet(T* to, int count, bool packed, const Octet<T>& x) {
  constexpr int each = 4 / int(sizeof(T));
  if (packed) {
#pragma unroll
    for (int i = 0; i < Octet<T>::packs; ++i)
      store_pack(reinterpret_cast<uint4*>(to) + i, x.word[4 * i], x.word[4 * i + 1],
                 x.word[4 * i + 2], x.word[4 * i + 3]);
  } else {
#pragma unroll
    for (int j = 0; j < octet; ++j)
      if (j < count) from_bits(to[j], x.word[j / each] >> j % each * 16);
  }
}

template <class T>
TX_DEVICE Octet<T> octet_of(const float (&x)[octet]) {
  constexpr int each = 4 / int(sizeof(T));
  Octet<T> to = {};
#pragma unroll
  for (int j = 0; j < octet; ++j) {
    T stored;
    store(stored, x[j]);
    to.word[j / each] |= bits_of(stored) << j % each * 16;
  }
  return to;
}

template <class T>
TX_DEVICE void spread(const Octet<T>& x, float (&to)[octet]) {
#pragma unroll
  for (int j = 0; j < octet; ++j) to[j] = x[j];
}

// Coordinates of one row's masks, read once.
struct RowMask {
  uint32_t step = 0, pair = 0, position = 0;

  TX_DEVICE void read(const Dropout& drop, int64_t row) {
    if (drop.threshold == 0) return;
    step = uint32_t(drop.record->step);
    pair = drop.keys.pair[row];
    position = drop.keys.position[row];
  }
  // Applies the dropout, which may be off, to the octet at `column`.
  TX_DEVICE void apply(const Dropout& drop, int64_t column, float (&x)[octet]) const {
    if (drop.threshold == 0) return;
    const Philox::Block b = Philox::block(drop.seed, drop.site, step, pair, position,
                                          uint32_t((drop.first + column) / octet));
    const float scale = float(drop.scale);
#pragma unroll
    for (int j = 0; j < octet; ++j) {
      const uint32_t bits = (b.word[j / 2] >> (j % 2 * 16)) & 0xffffu;
      x[j] = bits < drop.threshold ? 0.0f : x[j] * scale;
    }
  }
};

// Host: whether every matrix that is not empty may be moved in packs of whole octets.
template <class... M>
bool all_packed(const M&... matrices) {
  return ((matrices.empty() || (packs(matrices, 16) && matrices.cols % octet == 0)) && ...);
}

}  // namespace tx
