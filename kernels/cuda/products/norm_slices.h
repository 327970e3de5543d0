// Normalised rows in shared memory, as the left side of a product: for few rows, whose norm every
// block repeats instead of waiting for another kernel.
#pragma once
#include "kernels/cuda/products/tensor.h"
#include "kernels/cuda/rows/norm_row.h"

namespace tx::cuda {

constexpr int few_rows = 16;  // at most, where a norm is repeated

// A warp's gamma and beta of 256 * octets columns; zero beyond the row.
template <int octets>
struct RowGains {
  Gains of[octets];
  TX_DEVICE void read(const AddNorm& p) {
#pragma unroll
    for (int k = 0; k < octets; ++k) {
      const int column = (k * warp_size + int(threadIdx.x) % warp_size) * octet;
      if (column < p.sub.cols) of[k] = read_gains(p, true, column, octet);
    }
  }
};

// add_norm() of rows first .. first + count - 1, by `warps` warps, into slices of `rows` rows each.
// If `keep`, also stores what add_norm() does.
template <int octets, int rows, int warps>
TX_DEVICE void norm_slices(const AddNorm& p, const RowGains<octets>& gains, int first, int count,
                           bool keep, unsigned char* to) {
  const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
  for (int i = warp; i < count; i += warps)
    norm_row<bf16, octets, warp_size, true>(
        p, first + i, lane, nullptr, keep, [&](int k, int64_t, int) { return gains.of[k]; },
        [&](int64_t column, int, const Octet<bf16>& normed) {
          const int slice = int(column) / kStep, chunk = int(column) % kStep / 8;
          const uint4 pack = {normed.word[0], normed.word[1], normed.word[2], normed.word[3]};
          *reinterpret_cast<uint4*>(to + slice * rows * row_bytes + chunk_at(i, chunk)) = pack;
          if (keep) write_octet(row_of<bf16>(p.normed, first + i) + column, octet, true, normed);
        });
}

// Whether norm_slices() can compute it, for K whole slices.
inline bool fits_slices(const AddNorm& p, int64_t k) {
  return k % kStep == 0 && k <= 1024 && all_packed(p.x, p.sub, p.gamma, p.beta, p.sum, p.normed);
}

}  // namespace tx::cuda
