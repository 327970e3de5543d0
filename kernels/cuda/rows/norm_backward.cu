// The gradient of add_norm in one pass: a block takes a part of the rows, a few at a time, and
// copies the next ones to shared memory meanwhile. A thread has the same octet of all rows, and
// sums its dgamma and dbeta in registers; add_parts() then sums the parts.
#include "kernels/cuda/rows/pass.h"
#include "kernels/cuda/runtime/mma.h"
#include "kernels/cuda/runtime/octet.h"
#include "kernels/cuda/runtime/profile.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {
namespace {

// 25,000 rows make 1,563 parts, whose sums have a quarter of the bytes of one bf16 matrix.
constexpr int64_t part_rows = 16;
constexpr int max_threads = 512;

struct Backward {
  AddNormBackward g;
  float* partial;  // (parts, 2, D): dgamma, dbeta
  bool packed;
};

// What a thread reads of one row, and the row's statistics. `dx`: to be added to.
template <class T>
struct Row {
  Octet<T> dy, sum, dsum, dx;
  float mean = 0, rstd = 0;
};

TX_DEVICE void read_stats(const Matrix& stats, int64_t row, float& mean, float& rstd) {
  mean = row_of<float>(stats, row)[0];
  rstd = row_of<float>(stats, row)[1];
}

// d of an octet, from the row's means a of dy * gamma and b of dy * gamma * xhat, to dx and dsub.
template <class T>
TX_DEVICE void write_gradient(const Backward& p, int64_t row, int64_t column, int count,
                              const Row<T>& in, const float (&gamma)[octet], float a, float b,
                              const RowMask& mask) {
  const AddNormBackward& g = p.g;
  float d[octet];
#pragma unroll
  for (int j = 0; j < octet; ++j) {
    const float xhat = (in.sum[j] - in.mean) * in.rstd;
    d[j] = (in.dy[j] * gamma[j] - a - xhat * b) * in.rstd + in.dsum[j];
  }
  if (given(g.dx)) {
    float x[octet];
    spread(in.dx, x);
#pragma unroll
    for (int j = 0; j < octet; ++j) x[j] += d[j];
    write_octet(row_of<T>(g.dx, row) + column, count, p.packed, octet_of<T>(x));
  }
  if (!given(g.dsub)) return;
  mask.apply(g.drop, column, d);
  write_octet(row_of<T>(g.dsub, row) + column, count, p.packed, octet_of<T>(d));
}

template <class T>
TX_DEVICE void read_row(const Backward& p, int64_t row, int64_t column, int count, Row<T>& in) {
  const AddNormBackward& g = p.g;
  in.dy = read_octet(row_of<T>(g.dnormed, row) + column, count, p.packed);
  in.sum = read_octet(row_of<T>(g.sum, row) + column, count, p.packed);
  if (given(g.dsum)) in.dsum = read_octet(row_of<T>(g.dsum, row) + column, count, p.packed);
  if (given(g.dx) && g.add_x) in.dx = read_octet(row_of<T>(g.dx, row) + column, count, p.packed);
  read_stats(g.stats, row, in.mean, in.rstd);
}

// Adds an octet's contributions to dgamma and dbeta, and to the row's sums a and b.
template <class T>
TX_DEVICE void add_shares(const Row<T>& in, const float (&gamma)[octet], float (&dgamma)[octet],
                          float (&dbeta)[octet], float& a, float& b) {
#pragma unroll
  for (int j = 0; j < octet; ++j) {
    const float y = in.dy[j], xhat = (in.sum[j] - in.mean) * in.rstd;
    dgamma[j] += y * xhat;
    dbeta[j] += y;
    a += y * gamma[j];
    b += y * gamma[j] * xhat;
  }
}

// The mean `a` of write_gradient(); 0 for RMSNorm, which does not subtract a mean.
TX_DEVICE float mean_share(const Backward& p, float sum, int64_t width) {
  return given(p.g.dbeta) ? sum / float(width) : 0.f;
}

// The sum of x over the block, for every thread. Alternating `parts` need one barrier only.
template <int max_warps, int values>
TX_DEVICE void block_sums(float (&x)[values], float* parts) {
  const int warps = int(blockDim.x) / warp_size, lane = int(threadIdx.x) % warp_size;
#pragma unroll
  for (int v = 0; v < values; ++v) {
    x[v] = warp_sum(x[v]);
    if (lane == 0) parts[v * max_warps + int(threadIdx.x) / warp_size] = x[v];
  }
  __syncthreads();
#pragma unroll
  for (int v = 0; v < values; ++v) {
    x[v] = parts[v * max_warps];
    for (int w = 1; w < warps; ++w) x[v] += parts[v * max_warps + w];
  }
}

// The octets of a thread in rows that are read ahead: a thread reads only what it copied itself.
// Rows that cannot be copied in packs are read where they are used.
template <class T, int at_once>
struct Ahead {
  static constexpr int matrices = 4, stages = 2, packs = Octet<T>::packs;
  static constexpr size_t thread_bytes = size_t(stages) * at_once * matrices * packs * 16;
  uint4* memory;

  TX_DEVICE uint4* place(int stage, int k, int matrix, int pack) const {
    const int at = ((stage * at_once + k) * matrices + matrix) * packs + pack;
    return memory + at * int(blockDim.x) + int(threadIdx.x);
  }
  TX_DEVICE void copy(const Matrix& m, int64_t row, int64_t column, int stage, int k,
                      int matrix) const {
    const uint4* from = reinterpret_cast<const uint4*>(row_of<T>(m, row) + column);
#pragma unroll
    for (int i = 0; i < packs; ++i) copy_async_16(place(stage, k, matrix, i), from + i, 16);
  }
  // Begins to copy up to at_once rows from `row` on, as one group of copies.
  TX_DEVICE void begin(const Backward& p, int64_t row, int64_t last, int64_t column, int count,
                       int stage) const {
    const AddNormBackward& g = p.g;
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (!p.packed || row + k >= last || count == 0) continue;
      copy(g.dnormed, row + k, column, stage, k, 0);
      copy(g.sum, row + k, column, stage, k, 1);
      if (given(g.dsum)) copy(g.dsum, row + k, column, stage, k, 2);
      if (given(g.dx) && g.add_x) copy(g.dx, row + k, column, stage, k, 3);
    }
    copy_async_commit();
  }
  TX_DEVICE void take(Octet<T>& to, int stage, int k, int matrix) const {
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      const uint4 pack = *place(stage, k, matrix, i);
      to.word[4 * i] = pack.x, to.word[4 * i + 1] = pack.y;
      to.word[4 * i + 2] = pack.z, to.word[4 * i + 3] = pack.w;
    }
  }
  TX_DEVICE void read(const Backward& p, int64_t row, int64_t column, int count, int stage, int k,
                      Row<T>& in) const {
    if (!p.packed) return read_row(p, row, column, count, in);
    take(in.dy, stage, k, 0);
    take(in.sum, stage, k, 1);
    if (given(p.g.dsum)) take(in.dsum, stage, k, 2);
    if (given(p.g.dx) && p.g.add_x) take(in.dx, stage, k, 3);
    read_stats(p.g.stats, row, in.mean, in.rstd);
  }
};

// Rows of up to 4,096 features. Beyond the row a thread holds zeros.
template <class T, int at_once, int threads, bool packed>
__global__ void __launch_bounds__(threads, threads == max_threads ? 1 : 3)
    norm_backward_rows(Backward p) {
  p.packed = packed;  // known when compiled: fewer registers
  constexpr int max_row_warps = threads / warp_size;
  __shared__ float parts[2][2 * at_once * max_row_warps];
  const Ahead<T, at_once> ahead{dynamic_shared<uint4>()};
  const AddNormBackward& g = p.g;
  const int64_t rows = g.dnormed.rows, width = g.dnormed.cols;
  const int64_t column = int64_t(threadIdx.x) * octet;
  const int count = octet_count<packed>(width, column);
  const int64_t first = int64_t(blockIdx.x) * part_rows;
  const int64_t last = first + part_rows < rows ? first + part_rows : rows;
  ahead.begin(p, first, last, column, count, 0);
  float gamma[octet] = {}, dgamma[octet] = {}, dbeta[octet] = {};
  if (count) spread(read_octet(row_of<float>(g.gamma, 0) + column, count, p.packed), gamma);
  int turn = 0;
  for (int64_t i = first; i < last; i += at_once, turn ^= 1) {
    ahead.begin(p, i + at_once, last, column, count, turn ^ 1);
    copy_async_wait<1>();
    RowMask mask[at_once];
    float sums[2 * at_once] = {};
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (i + k >= last || count == 0) continue;
      Row<T> in = {};
      ahead.read(p, i + k, column, count, turn, k, in);
      if (given(g.dsub)) mask[k].read(g.drop, i + k);
      add_shares(in, gamma, dgamma, dbeta, sums[2 * k], sums[2 * k + 1]);
    }
    block_sums<max_row_warps>(sums, parts[turn]);
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (i + k >= last || count == 0) continue;
      Row<T> in = {};  // read again, rather than kept in registers
      ahead.read(p, i + k, column, count, turn, k, in);
      write_gradient(p, i + k, column, count, in, gamma, mean_share(p, sums[2 * k], width),
                     sums[2 * k + 1] / float(width), mask[k]);
    }
  }
  if (count == 0) return;
  float* to = p.partial + int64_t(blockIdx.x) * 2 * width + column;
  write_octet(to, count, p.packed, octet_of<float>(dgamma));
  write_octet(to + width, count, p.packed, octet_of<float>(dbeta));
}

// Rows of any width, read twice; the part's dgamma and dbeta are kept in `partial`.
template <class T>
__global__ void __launch_bounds__(max_threads) norm_backward_wide(Backward p) {
  constexpr int max_warps = max_threads / warp_size;
  __shared__ float parts[2][2 * max_warps];
  const AddNormBackward& g = p.g;
  const int64_t rows = g.dnormed.rows, width = g.dnormed.cols;
  const int64_t first = int64_t(blockIdx.x) * part_rows;
  const int64_t last = first + part_rows < rows ? first + part_rows : rows;
  const int64_t start = int64_t(threadIdx.x) * octet, step = int64_t(blockDim.x) * octet;
  float* to = p.partial + int64_t(blockIdx.x) * 2 * width;
  for (int64_t i = first; i < last; ++i) {
    RowMask mask;
    if (given(g.dsub)) mask.read(g.drop, i);
    Row<T> in = {};
    read_stats(g.stats, i, in.mean, in.rstd);
    float sums[2] = {}, gamma[octet];
    for (int64_t c = start; c < width; c += step) {
      const int count = octet_size(width, c);
      in.dy = read_octet(row_of<T>(g.dnormed, i) + c, count, p.packed);
      in.sum = read_octet(row_of<T>(g.sum, i) + c, count, p.packed);
      spread(read_octet(row_of<float>(g.gamma, 0) + c, count, p.packed), gamma);
      float dgamma[octet] = {}, dbeta[octet] = {};
      if (i > first) {
        spread(read_octet(to + c, count, p.packed), dgamma);
        spread(read_octet(to + width + c, count, p.packed), dbeta);
      }
      add_shares(in, gamma, dgamma, dbeta, sums[0], sums[1]);
      write_octet(to + c, count, p.packed, octet_of<float>(dgamma));
      write_octet(to + width + c, count, p.packed, octet_of<float>(dbeta));
    }
    block_sums<max_warps>(sums, parts[(i - first) % 2]);
    for (int64_t c = start; c < width; c += step) {
      const int count = octet_size(width, c);
      read_row(p, i, c, count, in);
      spread(read_octet(row_of<float>(g.gamma, 0) + c, count, p.packed), gamma);
      write_gradient(p, i, c, count, in, gamma, mean_share(p, sums[0], width),
                     sums[1] / float(width), mask);
    }
  }
}

}  // namespace

void Cuda::add_norm_backward(const AddNormBackward& g) {
  const Timed timed(*state_, "norm, backward",
                    traffic(g.dnormed, g.dsum, g.sum, g.dx, g.add_x ? g.dx : Matrix(), g.dsub));
  const int64_t width = g.dnormed.cols;
  const unsigned parts = blocks_of(g.dnormed.rows, part_rows);
  const size_t sums = size_t(parts) * 2 * size_t(width);
  float* partial = static_cast<float*>(state_->scratch((sums + size_t(width)) * sizeof(float)));
  const bool packed = all_packed(g.dnormed, g.dsum, g.sum, g.gamma, g.dx, g.dsub);
  const Backward p{g, partial, packed};
  const int64_t threads = (width + octet * warp_size - 1) / (octet * warp_size) * warp_size;
  with_type(g.dnormed.dtype, [&](auto t) {
    using T = decltype(t);
    const auto rows = [&](auto at_once, auto limit) {
      constexpr int n = decltype(at_once)::value, most = decltype(limit)::value;
      const size_t bytes = size_t(threads) * Ahead<T, n>::thread_bytes;
      if (packed && bytes + static_shared <= size_t(state_->shared_bytes_limit))
        return launch(*state_, norm_backward_rows<T, n, most, true>, parts, int(threads), bytes, p);
      launch(*state_, norm_backward_rows<T, n, most, false>, parts, int(threads), 0, p);
    };
    constexpr std::integral_constant<int, sizeof(T) == 2 ? 2 : 1> two_or_one;
    constexpr std::integral_constant<int, 1> one;
    constexpr std::integral_constant<int, max_threads / 2> half;
    if (threads <= half)
      rows(two_or_one, half);
    else if (threads <= max_threads)
      rows(one, std::integral_constant<int, max_threads>{});
    else
      launch(*state_, norm_backward_wide<T>, parts, max_threads, 0, p);
  });
  const Matrix nowhere = matrix(partial + sums, DType::f32, 1, width);
  add_parts(*state_, partial, parts, g.dgamma, g.dbeta.empty() ? nowhere : g.dbeta,
            g.add_parameters);
}

}  // namespace tx
