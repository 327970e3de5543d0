// Rows of logits over a vocabulary (loss.cu, topk.cu): one block per row. A row is read from device
// memory once, into shared memory, if it fits (37,008 columns of bf16 are 74 KB: three rows per
// multiprocessor on sm_90, two on sm_80), else once per pass.
#pragma once
#include <cfloat>
#include <cmath>
#include <type_traits>

#include "kernels/cuda/runtime/mma.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {

// A number of elements known to the compiler. (std::integral_constant converts on the host only.)
template <int n>
struct Count {
  TX_DEVICE constexpr operator int() const { return n; }
};

// Matrix::row() for device code.
template <class T>
TX_DEVICE T* start_of_row(const Matrix& m, int64_t i) {
  return static_cast<T*>(m.data) + i * m.stride;
}

// The first `columns` of a row in packs of 16 bytes. Pack p belongs to thread p % blockDim.x in
// every pass, so that a thread reads only its own copies and needs no barrier. The partition is
// by column, never by address, so that sums are bit-identical for any alignment.
template <class T, bool packed, bool cached>
class LogitRow {
 public:
  static constexpr int per = 16 / int(sizeof(T));
  using Element = T;
  using P = Pack<T, per>;

  TX_DEVICE LogitRow(const T* x, int columns) : x_(x), columns_(columns) {
    if constexpr (cached) {
      copies_ = dynamic_shared<P>();
      for (int p = int(threadIdx.x); p * per < columns; p += int(blockDim.x)) fetch(p);
      if constexpr (packed) {
        copy_async_commit();
        copy_async_wait<0>();
      }
    }
  }

  // f(pack, its first column, how many of its elements exist) over the thread's packs in order.
  template <class F>
  TX_DEVICE void each(F&& f) const {
    for (int p = int(threadIdx.x); p * per < columns_; p += int(blockDim.x)) {
      const int first = p * per;
      const P pack = get(p);
      if (first + per <= columns_)
        f(pack, first, Count<per>());
      else
        f(pack, first, columns_ - first);
    }
  }

 private:
  TX_DEVICE P get(int p) const {
    if constexpr (cached) return copies_[p];
    return read(p);
  }
  TX_DEVICE P read(int p) const {
    const int first = p * per;
    if (packed && first + per <= columns_) return *reinterpret_cast<const P*>(x_ + first);
    P pack{};
#pragma unroll
    for (int j = 0; j < per; ++j)
      if (first + j < columns_) pack.at[j] = x_[first + j];
    return pack;
  }
  TX_DEVICE void fetch(int p) {
    const int left = columns_ - p * per;
    if constexpr (packed)
      copy_async_16(copies_ + p, x_ + p * per, left < per ? left * int(sizeof(T)) : 16);
    else
      copies_[p] = read(p);
  }

  const T* x_;
  P* copies_ = nullptr;
  int columns_;
};

// The exponential; for bf16 the fast one is precise enough.
template <class T>
TX_DEVICE float exponential(float x) {
  if constexpr (std::is_same_v<T, bf16>) return __expf(x);
  return expf(x);
}

struct SoftmaxSums {
  float most;
  double exponentials;  // of exp(x - most)
  double total;         // of x - most: centred, so that a common offset costs no precision
};

// Shared memory of softmax_sums(), a value for each warp of the block.
struct SoftmaxParts {
  float most[32];
  double exponentials[32], total[32];
};

// The result is returned to every thread of the block. Sums are in float within a warp and in
// double over the warps: a float would lose the tail of a large vocabulary.
template <class Row>
TX_DEVICE SoftmaxSums softmax_sums(const Row& row, SoftmaxParts& parts) {
  const int lane = int(threadIdx.x) % warp_size, warp = int(threadIdx.x) / warp_size;
  const int warps = int(blockDim.x) / warp_size;
  SoftmaxSums sums;
  float most = -INFINITY;
  row.each([&](const typename Row::P& x, int, auto count) {
#pragma unroll
    for (int j = 0; j < Row::per; ++j)
      if (j < count) most = fmaxf(most, load(x.at[j]));
  });
  most = warp_max(most);
  if (lane == 0) parts.most[warp] = most;
  __syncthreads();
  sums.most = most = warp_max(lane < warps ? parts.most[lane] : -INFINITY);

  float exponentials = 0, total = 0;
  row.each([&](const typename Row::P& x, int, auto count) {
    float powers = 0, centred = 0;
#pragma unroll
    for (int j = 0; j < Row::per; ++j)
      if (j < count) {
        const float c = load(x.at[j]) - most;
        powers += exponential<typename Row::Element>(c);
        centred += c;
      }
    exponentials += powers;
    total += centred;
  });
  exponentials = warp_sum(exponentials);
  total = warp_sum(total);
  if (lane == 0) {
    parts.exponentials[warp] = double(exponentials);
    parts.total[warp] = double(total);
  }
  __syncthreads();
  sums.exponentials = warp_sum(lane < warps ? parts.exponentials[lane] : 0.0);
  sums.total = warp_sum(lane < warps ? parts.total[lane] : 0.0);
  return sums;
}

// The largest power of two up to `count`, at least a warp and at most `limit`, as a block.
__host__ __device__ inline int block_for(int64_t count, int limit) {
  int threads = warp_size;
  while (threads < limit && int64_t(threads) * 2 <= count) threads *= 2;
  return threads;
}

// Whether `packs` of 16 bytes fit the shared memory of a block.
__host__ __device__ inline bool fits_shared(int64_t packs, int shared_limit) {
  return packs * 16 + static_shared <= shared_limit;
}
// At least four packs per thread. Where two blocks do not fit a multiprocessor, one of 1,024.
__host__ __device__ inline int threads_for(int64_t packs, int shared_limit) {
  const bool alone = fits_shared(packs, shared_limit) && packs * 32 > shared_limit;
  return block_for(packs / 4, alone ? 1024 : 512);
}

// Host: how to read rows of m, by width and device; `packed` does not change results.
struct RowPlan {
  bool packed, cached;
  int threads;
  size_t shared;
};
inline bool rows_aligned(const Matrix& m) {
  return reinterpret_cast<uintptr_t>(m.data) % 16 == 0 &&
         size_t(m.stride) * size_of(m.dtype) % 16 == 0;
}
inline RowPlan plan_rows(const Cuda::State& s, const Matrix& m, int64_t columns) {
  const int64_t packs = (columns * int64_t(size_of(m.dtype)) + 15) / 16;
  RowPlan plan;
  plan.packed = rows_aligned(m);
  plan.cached = fits_shared(packs, s.shared_bytes_limit);
  plan.shared = plan.cached ? size_t(packs) * 16 : 0;
  plan.threads = threads_for(packs, s.shared_bytes_limit);
  return plan;
}

// Host: f(packed, cached) with std::true_type or std::false_type.
template <class F>
void with_plan(const RowPlan& plan, F&& f) {
  if (plan.packed && plan.cached) return f(std::true_type(), std::true_type());
  if (plan.packed) return f(std::true_type(), std::false_type());
  if (plan.cached) return f(std::false_type(), std::true_type());
  f(std::false_type(), std::false_type());
}

}  // namespace tx
