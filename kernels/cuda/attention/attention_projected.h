// Attention of few rows that projects its input itself: a block takes one head of up to four rows.
// It normalises the rows, multiplies them by the head's columns of the weights, which it has begun
// to load before the input is there, and attends from the result in shared memory. The product has
// the order of sums of products/gemm_bf16.cu.
#pragma once
#include "kernels/cuda/attention/attention_cached.h"
#include "kernels/cuda/products/norm_slices.h"

namespace tx::cached {

// What a block of attend_projected() or cross_rows_projected() computes before it attends.
struct Projection {
  AddNorm norm;  // of x; without normed there is none
  Matrix x;      // (R,K)
  Matrix w;      // (sections * heads * width, K): queries, or queries, keys and values
  const float* bias;
  int heads, width;
  bool early;  // parameters may be loaded before the earlier kernels have ended
};

constexpr int projected_rows = 4;  // of a block

// Its fragments, and bytes of dynamic shared memory, for up to 256 * octets columns of x.
template <int sections_, int octets_>
struct Projected {
  static constexpr int sections = sections_, octets = octets_, rows = projected_rows;
  static constexpr int m = 1, n = 2;  // fragments of a warp
  static constexpr int parts_held = 2;
  static constexpr int a_bytes = octets * cuda::kPart * rows * int(sizeof(bf16));
  static constexpr int out_bytes = rows * sections * chunk * int(sizeof(bf16));
  static constexpr int weights_bytes = parts_held * sections * chunk * cuda::kPart * 2;
  static constexpr int shared_bytes = a_bytes + out_bytes + weights_bytes;
};

// Part `part` of K of the head's rows of w, into slices of `cols` rows each.
template <int sections>
TX_DEVICE void load_part(const Projection& p, int head, int part, int cols, unsigned char* to) {
#pragma unroll 1
  for (int step = 0; step < cuda::part_steps; ++step) {
    const int k = part * cuda::kPart + step * cuda::kStep;
    if (k >= p.w.cols) break;
#pragma unroll 4
    for (int i = int(threadIdx.x); i < cols * cuda::chunks; i += warps * warp_size) {
      const int col = i / cuda::chunks, piece = i % cuda::chunks;
      int section = 0;
      if (sections > 1) section = (col >= p.width) + (col >= 2 * p.width);
      const int row = (section * p.heads + head - section) * p.width + col;
      const bf16* from = static_cast<const bf16*>(p.w.data) + row * p.w.stride + k + piece * 8;
      copy_async_16(to + step * cols * cuda::row_bytes + cuda::chunk_at(col, piece), from, 16);
    }
  }
  copy_async_commit();
}

// Rows first .. first + count - 1 as they are, into slices.
template <class T>
TX_DEVICE void copy_slices(const Matrix& x, int first, int count, unsigned char* to) {
  const int packs = int(x.cols) / 8;
  for (int i = int(threadIdx.x); i < count * packs; i += warps * warp_size) {
    const int row = i / packs, slice = i % packs / cuda::chunks, piece = i % packs % cuda::chunks;
    const uint4* from = reinterpret_cast<const uint4*>(row_of<const bf16>(x, first + row));
    *reinterpret_cast<uint4*>(to + slice * T::rows * cuda::row_bytes + cuda::chunk_at(row, piece)) =
        from[i % packs];
  }
}

// The first of the two columns of fragment j of section i that the thread has.
TX_DEVICE int column_of(int i, int j) {
  return (i * warps + warp_index()) * 16 + j * 8 + warp_lane() % 4 * 2;
}

// A thread's biases and, if there is a norm, gamma and beta.
template <class T>
struct Parameters {
  cuda::RowGains<T::octets> gains;
  float bias[T::sections][T::n][2] = {};

  TX_DEVICE void read(const Projection& p, int head) {
    if (given(p.norm.normed)) gains.read(p.norm);
#pragma unroll
    for (int i = 0; i < T::sections; ++i)
#pragma unroll
      for (int j = 0; j < T::n; ++j) {
        const int at = column_of(i, j), section = at / p.width;
        if (!p.bias || section >= T::sections) continue;
        const float* from = p.bias + (section * p.heads + head - section) * p.width + at;
        bias[i][j][0] = from[0], bias[i][j][1] = from[1];
      }
  }
};

template <class T>
using Sums = float[T::sections][T::m][T::n][4];

// Adds a part of K, of which `slices` slices exist.
template <class T>
TX_DEVICE void multiply_part(const unsigned char* a, const unsigned char* weights, int cols,
                             int slices, Sums<T>& total) {
  Sums<T> sums = {};
  for (int step = 0; step < min(slices, cuda::part_steps); ++step)
#pragma unroll
    for (int i = 0; i < T::sections; ++i) {
      const int col = (i * warps + warp_index()) * 16;
      if (col < cols)
        cuda::multiply<T>(a + step * T::rows * cuda::row_bytes,
                          weights + step * cols * cuda::row_bytes, 0, col, sums[i]);
    }
#pragma unroll
  for (int i = 0; i < T::sections; ++i) cuda::add_part<T>(sums[i], total[i]);
}

// The head's columns of the product for rows first .. first + count - 1: (rows, sections * width)
// in `shared`, with barriers before and after. Waits for the earlier kernels. What follows the
// result in `shared` is free afterwards.
template <class T>
TX_DEVICE void project(const Projection& p, int head, int first, int count, unsigned char* shared) {
  bf16* const out = reinterpret_cast<bf16*>(shared);
  unsigned char *const a = shared + T::out_bytes, *const weights = a + T::a_bytes;
  const int cols = T::sections * p.width, part_bytes = cols * cuda::kPart * int(sizeof(bf16));
  const auto held = [&](int part) { return weights + part % T::parts_held * part_bytes; };
  Parameters<T> parameters;
  const auto begin = [&] {
    for (int part = 0; part < T::parts_held; ++part)
      load_part<T::sections>(p, head, part, cols, held(part));
    parameters.read(p, head);
  };
  if (p.early) begin();
  wait_for_earlier();
  if (!p.early) begin();
  if (given(p.norm.normed))
    cuda::norm_slices<T::octets, T::rows, warps>(p.norm, parameters.gains, first, count, head == 0,
                                                 a);
  else
    copy_slices<T>(p.x, first, count, a);
  Sums<T> total = {};
  for (int part = 0; part * cuda::kPart < p.w.cols; ++part) {
    copy_async_wait<T::parts_held - 1>();
    __syncthreads();
    const int slice = part * cuda::part_steps, slices = int(p.w.cols) / cuda::kStep - slice;
    multiply_part<T>(a + slice * T::rows * cuda::row_bytes, held(part), cols, slices, total);
    __syncthreads();
    load_part<T::sections>(p, head, part + T::parts_held, cols, held(part));
  }
  const int row = warp_lane() / 4;
#pragma unroll
  for (int i = 0; i < T::sections; ++i)
#pragma unroll
    for (int j = 0; j < T::n; ++j) {
      const int at = column_of(i, j);
      if (at >= cols || row >= count) continue;
      float pair[2] = {total[i][0][j][0], total[i][0][j][1]};
      if (p.bias) pair[0] += parameters.bias[i][j][0], pair[1] += parameters.bias[i][j][1];
      *reinterpret_cast<uint32_t*>(out + row * cols + at) = bf16_pair(pair[0], pair[1]);
    }
  copy_async_wait<0>();
  __syncthreads();
}

// Section `section` of project()'s result as a matrix of all rows and heads, of which only those
// of the block exist.
template <class T>
TX_DEVICE Matrix section_of(const Projection& p, int section, int head, int first,
                            unsigned char* shared) {
  Matrix m;
  m.stride = T::sections * p.width;
  m.data = reinterpret_cast<bf16*>(shared) + (section - head) * p.width - first * m.stride;
  return m;
}

// Host: launches the kernel for 256, 512 or 1,024 columns, if there is one for such operands.
template <int sections, class Kernel>
bool start_projected(const Cuda::State& s, const Projection& from, const CachedAttention& p,
                     const Kernel& kernel) {
  const int64_t rows = p.o.rows, windows = blocks_of(rows, projected_rows);
  if (rows > cuda::few_rows || windows * from.heads > s.processors) return false;
  const auto start = [&](auto shape) {
    using T = decltype(shape);
    if (T::shared_bytes > s.shared_bytes_limit - static_shared) return false;
    launch_early(s, kernel(shape), dim3(unsigned(windows), unsigned(from.heads)), warps * warp_size,
                 T::shared_bytes, from, p);
    return true;
  };
  if (from.w.cols <= 256) return start(Projected<sections, 1>{});
  if (from.w.cols <= 512) return start(Projected<sections, 2>{});
  return start(Projected<sections, 4>{});
}

// Self-attention (attention_cached.cu) and cross-attention (attention_cross.cu).
bool self_projected(const Cuda::State& s, const Projection& from, const CachedAttention& p);
bool cross_projected(const Cuda::State& s, const Projection& from, const CachedAttention& p);

}  // namespace tx::cached
