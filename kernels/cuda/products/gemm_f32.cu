// Products of f32, c (M,N) = a (M,K) b (N,K)^T: one fmaf chain for every element. A block computes
// one tile of c in steps of 16 along K. The slices of a and b are in shared memory as [k][row],
// double-buffered. A thread owns thread_rows x thread_cols elements, groups of up to four
// neighbours.
#include "kernels/cuda/products/gemm.h"

namespace tx {
namespace cuda {
namespace {

constexpr int kStep = 16;  // of K

struct Operand {
  const float* data;
  int64_t rows, row_step, k_step, k;
  bool packed;  // four neighbours along k can be read at once
};

template <int index, int thread_rows, int thread_cols>
struct Tile {
  static constexpr int rows = plain_tiles[index].rows, cols = plain_tiles[index].cols;
  static constexpr int m = thread_rows, n = thread_cols;
  static constexpr int across = cols / n, threads = rows / m * across;
};

// A slice of `rows` rows, loaded to shared memory in groups of four k.
template <int rows, int threads>
struct Slice {
  static constexpr int groups = rows * kStep / 4, rounds = (groups + threads - 1) / threads;
  static constexpr int stride = rows + 4;  // of a k in shared memory
  float values[rounds][4];

  struct Place {
    int row, k;
  };
  // Neighbouring threads read neighbouring addresses.
  TX_DEVICE static Place place(int group, bool along_k) {
    if (along_k) return {group / (kStep / 4), group % (kStep / 4) * 4};
    return {group % rows, group / rows * 4};
  }

  TX_DEVICE void fetch(const Operand& from, int64_t first, int64_t k0) {
#pragma unroll
    for (int i = 0; i < rounds; i++) {
      const int group = int(threadIdx.x) + i * threads;
      const Place at = place(group, from.k_step == 1);
      const int64_t row = first + at.row, k = k0 + at.k;
      const bool inside = group < groups && row < from.rows;
      const float* source = from.data + row * from.row_step + k * from.k_step;
      if (from.packed && inside && k + 4 <= from.k) {
        const float4 four = *reinterpret_cast<const float4*>(source);
        values[i][0] = four.x, values[i][1] = four.y, values[i][2] = four.z, values[i][3] = four.w;
        continue;
      }
#pragma unroll
      for (int j = 0; j < 4; j++)
        values[i][j] = inside && k + j < from.k ? source[j * from.k_step] : 0;
    }
  }
  TX_DEVICE void put(float* to, bool along_k) const {
#pragma unroll
    for (int i = 0; i < rounds; i++) {
      const int group = int(threadIdx.x) + i * threads;
      const Place at = place(group, along_k);
      if (group >= groups) continue;
#pragma unroll
      for (int j = 0; j < 4; j++) to[(at.k + j) * stride + at.row] = values[i][j];
    }
  }
};

// `count` values of one k, those of thread `index` of `threads` in this direction: groups of
// `width` neighbours, dealt to the threads in turn, so that a warp reads neighbouring words.
template <int count>
struct Share {
  static constexpr int width = count < 4 ? count : 4;
  TX_DEVICE static int position(int index, int threads, int i) {
    return i / width * threads * width + index * width + i % width;
  }
  TX_DEVICE static void read(const float* k, int index, int threads, float (&to)[count]) {
#pragma unroll
    for (int i = 0; i < count; i += width) {
      const auto pack =
          *reinterpret_cast<const Pack<float, width>*>(k + position(index, threads, i));
#pragma unroll
      for (int j = 0; j < width; j++) to[i + j] = pack.at[j];
    }
  }
};

template <class T>
__global__ void __launch_bounds__(T::threads)
    plain_kernel(const Operand a, const Operand b, const Finish finish) {
  using Left = Slice<T::rows, T::threads>;
  using Right = Slice<T::cols, T::threads>;
  __shared__ __align__(16) float left[2][kStep * Left::stride];
  __shared__ __align__(16) float right[2][kStep * Right::stride];
  constexpr int down = T::rows / T::m;
  const int64_t row = int64_t(blockIdx.x) * T::rows, col = int64_t(blockIdx.y) * T::cols;
  const int y = int(threadIdx.x) / T::across, x = int(threadIdx.x) % T::across;
  const int steps = int((a.k + kStep - 1) / kStep);
  Left next_left;
  Right next_right;
  float sums[T::m][T::n] = {};
  next_left.fetch(a, row, 0), next_right.fetch(b, col, 0);
  for (int step = 0; step < steps; step++) {
    // All threads have passed the last barrier, so the previous slice is no longer read.
    next_left.put(left[step % 2], a.k_step == 1), next_right.put(right[step % 2], b.k_step == 1);
    __syncthreads();
    const int64_t k0 = int64_t(step + 1) * kStep;
    if (k0 < a.k) next_left.fetch(a, row, k0), next_right.fetch(b, col, k0);
#pragma unroll
    for (int k = 0; k < kStep; k++) {
      float u[T::m], v[T::n];
      Share<T::m>::read(left[step % 2] + k * Left::stride, y, down, u);
      Share<T::n>::read(right[step % 2] + k * Right::stride, x, T::across, v);
#pragma unroll
      for (int i = 0; i < T::m; i++)
#pragma unroll
        for (int j = 0; j < T::n; j++) sums[i][j] = fmaf(u[i], v[j], sums[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < T::m; i++) {
#pragma unroll
    for (int j = 0; j < T::n; j += 2) {
      const float pair[2] = {sums[i][j], sums[i][j + 1]};
      finish_columns(finish, row + Share<T::m>::position(y, down, i),
                     col + Share<T::n>::position(x, T::across, j), pair);
    }
  }
}

template <class T>
void run(const Cuda::State& s, const Sums& p) {
  const auto side = [&](const Side& x) {
    return Operand{
        static_cast<const float*>(x.data), x.rows, x.row_step, x.k_step, p.k, packed(x, p.dtype)};
  };
  const dim3 grid(blocks_of(p.a.rows, T::rows), blocks_of(p.b.rows, T::cols));
  launch(s, plain_kernel<T>, grid, T::threads, 0, side(p.a), side(p.b), finish_of(s, p));
}

}  // namespace

void plain_product(const Cuda::State& s, const Sums& p, int tile) {
  switch (tile) {
    case 0:
      return run<Tile<0, 1, 4>>(s, p);
    case 1:
      return run<Tile<1, 4, 4>>(s, p);
    case 2:
      return run<Tile<2, 8, 8>>(s, p);
  }
  TX_ASSERT(!"a tile");
}

}  // namespace cuda
}  // namespace tx
