// Products of bf16 on tensor cores, c (M,N) = a (M,K) b (N,K)^T. A block computes one tile of c in
// steps of 64 along K: slices of a and b are loaded to shared memory several steps ahead, as rows
// of 128 bytes whose eight chunks are permuted by the row's number, against bank conflicts. Rows
// and elements beyond the matrices are zero. Warps multiply fragments with mma m16n8k16. With few
// blocks, several groups of warps share the parts of K, which the first one adds in order.
#include "kernels/cuda/products/tensor.h"

namespace tx {
namespace cuda {
namespace {

// A block of `groups` groups of (rows / warp_rows) x (cols / warp_cols) warps. Group g computes the
// parts g, g + groups, ... of K.
template <int index, int warp_rows, int warp_cols, int groups_along_k = 1>
struct Tile {
  static constexpr int rows = tensor_tiles[index].rows, cols = tensor_tiles[index].cols;
  static constexpr int groups = groups_along_k;
  static constexpr int stages = groups == 1 ? tensor_tiles[index].stages : part_steps;
  static constexpr int across = cols / warp_cols, group = rows / warp_rows * across * 32;
  static constexpr int threads = groups * group;
  static constexpr int m = warp_rows / 16, n = warp_cols / 8;  // fragments of a warp
  static constexpr int a_bytes = rows * row_bytes, bytes = a_bytes + cols * row_bytes;
  static constexpr int sums_bytes = groups == 1 ? 0 : threads * m * n * 4 * int(sizeof(float));
  static constexpr int shared_bytes = groups * stages * bytes + sums_bytes;
  static_assert(groups > 1 || shared_bytes == tensor_tiles[index].shared_bytes());
};

// Any alignment and order, element by element; neighbouring threads read neighbouring elements.
template <class T, int rows>
class Elements {
 public:
  static_assert(T::groups == 1);
  TX_DEVICE Elements(const Operand& from, int64_t first) : from_(from), first_(first) {}
  TX_DEVICE void next(int step, unsigned char* to) {
    const bool along_k = from_.k_step == 1;
    for (int i = int(threadIdx.x); i < rows * chunks; i += T::threads) {
      const int row = along_k ? i / chunks : i % rows, chunk = along_k ? i % chunks : i / rows;
      const int64_t k = int64_t(step) * kStep + chunk * 8;
      const bf16* source = from_.data + (first_ + row) * from_.row_step + k * from_.k_step;
      Pack<bf16, 8> pack;
#pragma unroll
      for (int j = 0; j < 8; j++) {
        const bool inside = first_ + row < from_.rows && k + j < from_.k;
        pack.at[j] = inside ? source[j * from_.k_step] : bf16{0};
      }
      *reinterpret_cast<Pack<bf16, 8>*>(to + chunk_at(row, chunk)) = pack;
    }
  }

 private:
  const Operand& from_;
  int64_t first_;
};

template <class T>
TX_DEVICE void finish_any(const Finish& f, int64_t row, int64_t col, const Fragments<T>& sums) {
  const int lane = int(threadIdx.x) % warp_size;
#pragma unroll
  for (int i = 0; i < T::m; i++) {
#pragma unroll
    for (int j = 0; j < T::n; j++) {
      const int64_t r = row + i * 16 + lane / 4, c = col + j * 8 + lane % 4 * 2;
      const float upper[2] = {sums[i][j][0], sums[i][j][1]};
      const float lower[2] = {sums[i][j][2], sums[i][j][3]};
      finish_columns(f, r, c, upper);
      finish_columns(f, r + 8, c, lower);
    }
  }
}

// Out: the type of c if wide_output(), else void.
template <class T, template <class, int> class Slices, class Out>
__global__ void __launch_bounds__(T::threads)
    tensor_kernel(const Operand a, const Operand b, const Finish finish) {
  unsigned char* shared = dynamic_shared<unsigned char>();
  float* parts = reinterpret_cast<float*>(shared + T::groups * T::stages * T::bytes);
  const int64_t row = int64_t(blockIdx.x) * T::rows, col = int64_t(blockIdx.y) * T::cols;
  const int count = int((a.k + kPart - 1) / kPart), rounds = (count + T::groups - 1) / T::groups;
  const int steps = T::groups > 1 ? rounds * part_steps : int((a.k + kStep - 1) / kStep);
  Slices<T, T::rows> left(a, row);
  Slices<T, T::cols> right(b, col);
  shared += int(threadIdx.x) / T::group * T::stages * T::bytes;
  const auto fetch = [&](int step, int stage, bool both = true) {
    if (step < steps) {
      unsigned char* to = shared + stage * T::bytes;
      left.next(step, to);
      if (both) right.next(step, to + T::a_bytes);
    }
    copy_async_commit();
  };
  const int warp = int(threadIdx.x) % T::group / warp_size;
  const int a_row = warp / T::across * T::m * 16, b_row = warp % T::across * T::n * 8;
  Fragments<T> total = {};
  // Large tiles, which have no registers left and many warps, read them at the end.
  constexpr bool wide = !std::is_same_v<Out, void>, early_biases = wide && T::n == 2;
  Biases<T> biases;
  if (finish.weights) {
    if constexpr (early_biases) biases.read(finish, col + b_row);
#pragma unroll
    for (int step = 0; step < T::stages - 1; step++)
      if (step < steps) right.next(step, shared + step * T::bytes + T::a_bytes);
  }
  wait_for_earlier();
  if (early_biases && !finish.weights) biases.read(finish, col + b_row);
#pragma unroll
  for (int step = 0; step < T::stages - 1; step++) fetch(step, step, !finish.weights);
  for (int round = 0, step = 0, stage = 0; round < rounds; round++) {
    Fragments<T> sums = {};
    for (const int end = min(step + part_steps, steps); step < end; step++) {
      copy_async_wait<T::stages - 2>();
      __syncthreads();  // this slice has arrived, and the previous one is no longer used
      fetch(step + T::stages - 1, stage == 0 ? T::stages - 1 : stage - 1);
      const unsigned char* slice = shared + stage * T::bytes;
      multiply<T>(slice, slice + T::a_bytes, a_row, b_row, sums);
      stage = stage + 1 == T::stages ? 0 : stage + 1;
    }
    if constexpr (T::groups == 1)
      add_part<T>(sums, total);
    else
      add_round<T>(min(count - round * T::groups, T::groups), sums, parts, total);
  }
  if (T::groups > 1 && int(threadIdx.x) >= T::group) return;
  if constexpr (!wide) {
    finish_any<T>(finish, row + a_row, col + b_row, total);
  } else {
    if (!early_biases) biases.read(finish, col + b_row);
    finish_wide<T, Out>(finish, biases, row + a_row, col + b_row, total);
  }
}

template <class T>
void run(const Cuda::State& s, const Sums& p) {
  const auto side = [&](const Side& x) {
    return Operand{static_cast<const bf16*>(x.data), x.rows, x.row_step, x.k_step, p.k};
  };
  const dim3 grid(blocks_of(p.a.rows, T::rows), blocks_of(p.b.rows, T::cols));
  const auto start = [&](auto* kernel) {
    launch_early(s, kernel, grid, T::threads, T::shared_bytes, side(p.a), side(p.b),
                 finish_of(s, p));
  };
  if (wide_output(p)) {
    const bool half = p.c.dtype == DType::bf16;
    return start(half ? tensor_kernel<T, Packs, bf16> : tensor_kernel<T, Packs, float>);
  }
  if constexpr (T::groups == 1)
    start(packed_operands(p) ? tensor_kernel<T, Packs, void> : tensor_kernel<T, Elements, void>);
}

// Few blocks wait for memory and for one product after the other: with groups they do less of it
// in turn.
template <int index>
void run_narrow(const Cuda::State& s, const Sums& p) {
  using One = Tile<index, 16, 16>;
  const int64_t blocks = int64_t(blocks_of(p.a.rows, One::rows)) * blocks_of(p.b.rows, One::cols);
  const int64_t parts = (p.k + kPart - 1) / kPart;
  const auto fits = [&](auto tile) {
    using T = decltype(tile);
    return parts > T::groups / 2 && T::shared_bytes <= s.shared_bytes_limit - static_shared;
  };
  if (wide_output(p) && blocks <= s.processors) {
    if constexpr (8 * One::group <= 256)
      if (fits(Tile<index, 16, 16, 8>{})) return run<Tile<index, 16, 16, 8>>(s, p);
    if (fits(Tile<index, 16, 16, 4>{})) return run<Tile<index, 16, 16, 4>>(s, p);
    if (fits(Tile<index, 16, 16, 2>{})) return run<Tile<index, 16, 16, 2>>(s, p);
  }
  run<One>(s, p);
}

}  // namespace

// Narrow tiles are for few rows, those of 32 rows for decoding: 128 rows make about 128 blocks.
void mma_product(const Cuda::State& s, const Sums& p, int tile) {
  switch (tile) {
    case 0:
      return run_narrow<0>(s, p);
    case 1:
      return run_narrow<1>(s, p);
    case 2:
      return run<Tile<2, 16, 16>>(s, p);
    case 3:
      return run<Tile<3, 16, 16>>(s, p);
    case 4:
      return run<Tile<4, 16, 32>>(s, p);
    case 5:
      return run<Tile<5, 32, 32>>(s, p);
    case 6:
      return run<Tile<6, 64, 32>>(s, p);
  }
  TX_ASSERT(!"a tile");
}

void tensor_product(const Cuda::State& s, const Sums& p, int tile) {
  if (s.wgmma && tile == 6 && wide_output(p)) return wgmma_product(s, p);
  mma_product(s, p, tile);
}

}  // namespace cuda
}  // namespace tx
