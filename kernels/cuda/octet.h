// An octet is 8 consecutive features of a row: what one Philox block masks, and 16 bytes of bf16.
// Threads of the row-wise kernels hold whole octets, so that each block of mask bits is drawn once.
// A row is shared out in the same way whether it moves in packs or element by element: its bits do
// not depend on its alignment.
#pragma once
#include "kernels/cuda/device.h"

namespace tx {

constexpr int octet = 8;

template <class T>
struct Octet {
  static constexpr int per_pack = 16 / int(sizeof(T)), packs = octet / per_pack;
  Pack<T, per_pack> pack[packs];

  TX_DEVICE float operator[](int j) const { return load(pack[j / per_pack].at[j % per_pack]); }
};

template <class T>
TX_DEVICE T* row_of(const Matrix& m, int64_t i) {
  return static_cast<T*>(m.data) + i * m.stride;
}

// How many features the octet at `column` has; 0 beyond the row.
TX_DEVICE int octet_size(int64_t cols, int64_t column) {
  const int64_t left = cols - column;
  return left >= octet ? octet : left > 0 ? int(left) : 0;
}

// Element by element unless `packed`; 0 from `count` on.
template <class T>
TX_DEVICE Octet<T> read_octet(const T* from, int count, bool packed) {
  using O = Octet<T>;
  O x;
  if (packed) {
#pragma unroll
    for (int i = 0; i < O::packs; ++i)
      x.pack[i] = reinterpret_cast<const Pack<T, O::per_pack>*>(from)[i];
  } else {
#pragma unroll
    for (int j = 0; j < octet; ++j)
      x.pack[j / O::per_pack].at[j % O::per_pack] = j < count ? from[j] : T{};
  }
  return x;
}

template <class T>
TX_DEVICE void write_octet(T* to, int count, bool packed, const Octet<T>& x) {
  using O = Octet<T>;
  if (packed) {
#pragma unroll
    for (int i = 0; i < O::packs; ++i) reinterpret_cast<Pack<T, O::per_pack>*>(to)[i] = x.pack[i];
  } else {
#pragma unroll
    for (int j = 0; j < octet; ++j)
      if (j < count) to[j] = x.pack[j / O::per_pack].at[j % O::per_pack];
  }
}

template <class T>
TX_DEVICE Octet<T> octet_of(const float (&x)[octet]) {
  using O = Octet<T>;
  O to;
#pragma unroll
  for (int j = 0; j < octet; ++j) store(to.pack[j / O::per_pack].at[j % O::per_pack], x[j]);
  return to;
}

template <class T>
TX_DEVICE void spread(const Octet<T>& x, float (&to)[octet]) {
#pragma unroll
  for (int j = 0; j < octet; ++j) to[j] = x[j];
}

// Coordinates of one row's masks, read once.
struct RowMask {
  uint32_t step, pair, position;

  TX_DEVICE void read(const Dropout& drop, int64_t row) {
    if (drop.threshold == 0) return;
    step = uint32_t(drop.record->step);
    pair = drop.keys.pair[row];
    position = drop.keys.position[row];
  }
  // The octet at `column` through the dropout, which may be off.
  TX_DEVICE void apply(const Dropout& drop, int64_t column, float (&x)[octet]) const {
    if (drop.threshold == 0) return;
    const Philox::Block b =
        Philox::block(drop.seed, drop.site, step, pair, position, uint32_t(column / octet));
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
