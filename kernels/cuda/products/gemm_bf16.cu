// Products of bf16 on tensor cores, c (M,N) = a (M,K) b (N,K)^T.
//
// A block computes one tile of c. It proceeds along K in steps of 64: slices of a and b are
// loaded to shared memory several steps ahead, as rows of 128 bytes whose eight 16-byte chunks are
// permuted by the row's number, so that neither copies nor ldmatrix have bank conflicts. Rows and
// elements beyond the matrices are zero. Warps multiply fragments with mma m16n8k16.
#include "kernels/cuda/products/gemm.h"
#include "kernels/cuda/runtime/mma.h"

namespace tx {
namespace cuda {
namespace {

constexpr int kStep = 64;             // of K, elements of one slice
constexpr int row_bytes = kStep * 2;  // of a slice
constexpr int chunks = row_bytes / 16;

// The position of chunk `chunk` of row `row` in a slice.
TX_DEVICE int chunk_at(int row, int chunk) { return row * row_bytes + (chunk ^ row % chunks) * 16; }

struct Operand {
  const bf16* data;
  int64_t rows, row_step, k_step, k;
};

// 16-byte packs along k, copied without waiting.
struct Packs {
  template <int rows, int threads>
  TX_DEVICE static void fetch(const Operand& from, int64_t first, int64_t k0, unsigned char* to) {
    const int chunk = int(threadIdx.x) % chunks;  // the same in every round
    const int64_t k = k0 + chunk * 8, left = from.k - k;
    const int bytes = left < 0 ? 0 : left < 8 ? int(left) * 2 : 16;
    int row = int(threadIdx.x) / chunks;
    const bf16* source = from.data + (first + row) * from.row_step + k;
    const int64_t below = from.rows - first;
    const int last = below < rows ? int(below) : rows;
    for (; row < rows; row += threads / chunks, source += threads / chunks * from.row_step)
      copy_async_16(to + chunk_at(row, chunk), source, row < last ? bytes : 0);
  }
};

// Any alignment and order, element by element; neighbouring threads read neighbouring elements.
struct Elements {
  template <int rows, int threads>
  TX_DEVICE static void fetch(const Operand& from, int64_t first, int64_t k0, unsigned char* to) {
    const bool along_k = from.k_step == 1;
    for (int i = int(threadIdx.x); i < rows * chunks; i += threads) {
      const int row = along_k ? i / chunks : i % rows, chunk = along_k ? i % chunks : i / rows;
      const int64_t k = k0 + chunk * 8;
      const bf16* source = from.data + (first + row) * from.row_step + k * from.k_step;
      Pack<bf16, 8> pack;
#pragma unroll
      for (int j = 0; j < 8; j++) {
        const bool inside = first + row < from.rows && k + j < from.k;
        pack.at[j] = inside ? source[j * from.k_step] : bf16{0};
      }
      *reinterpret_cast<Pack<bf16, 8>*>(to + chunk_at(row, chunk)) = pack;
    }
  }
};

// A block of (rows / warp_rows) x (cols / warp_cols) warps; `stages` slices are in shared memory,
// of which stages - 1 may still be in flight.
template <int index, int warp_rows, int warp_cols, int stage_count>
struct Tile {
  static constexpr int rows = tensor_tiles[index].rows, cols = tensor_tiles[index].cols;
  static constexpr int stages = stage_count;
  static constexpr int across = cols / warp_cols, threads = rows / warp_rows * across * 32;
  static constexpr int m = warp_rows / 16, n = warp_cols / 8;  // fragments of a warp
  static constexpr int a_bytes = rows * row_bytes, bytes = a_bytes + cols * row_bytes;
};

// One slice: the warp's fragments from row `a_row` of a and `b_row` of b on.
template <class T>
TX_DEVICE void multiply(const unsigned char* a, const unsigned char* b, int a_row, int b_row,
                        float (&sums)[T::m][T::n][4]) {
  const int lane = int(threadIdx.x) % warp_size;
#pragma unroll
  for (int k = 0; k < kStep / 16; k++) {
    uint32_t left[T::m][4];
#pragma unroll
    for (int i = 0; i < T::m; i++)
      ldmatrix_x4(left[i], a + chunk_at(a_row + i * 16 + lane % 16, 2 * k + lane / 16));
#pragma unroll
    for (int j = 0; j < T::n; j += 2) {  // two fragments of b at once
      uint32_t right[4];
      ldmatrix_x4(right,
                  b + chunk_at(b_row + j * 8 + lane % 8 + lane / 16 * 8, 2 * k + lane / 8 % 2));
      const uint32_t even[2] = {right[0], right[1]}, odd[2] = {right[2], right[3]};
#pragma unroll
      for (int i = 0; i < T::m; i++) {
        mma_bf16(sums[i][j], left[i], even);
        mma_bf16(sums[i][j + 1], left[i], odd);
      }
    }
  }
}

template <class T, class Fetch>
__global__ void __launch_bounds__(T::threads, T::threads == 256 ? 2 : 1)
    tensor_kernel(const Operand a, const Operand b, const Finish finish) {
  unsigned char* shared = dynamic_shared<unsigned char>();
  const int64_t row = int64_t(blockIdx.x) * T::rows, col = int64_t(blockIdx.y) * T::cols;
  const int steps = int((a.k + kStep - 1) / kStep);
  const auto fetch = [&](int step) {
    if (step < steps) {
      unsigned char* to = shared + step % T::stages * T::bytes;
      Fetch::template fetch<T::rows, T::threads>(a, row, int64_t(step) * kStep, to);
      Fetch::template fetch<T::cols, T::threads>(b, col, int64_t(step) * kStep, to + T::a_bytes);
    }
    copy_async_commit();
  };
  const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
  const int a_row = warp / T::across * T::m * 16, b_row = warp % T::across * T::n * 8;
  float sums[T::m][T::n][4] = {};
  for (int step = 0; step < T::stages - 1; step++) fetch(step);
  for (int step = 0; step < steps; step++) {
    copy_async_wait<T::stages - 2>();
    __syncthreads();  // this slice has arrived, and the previous one is no longer used
    fetch(step + T::stages - 1);
    const unsigned char* slice = shared + step % T::stages * T::bytes;
    multiply<T>(slice, slice + T::a_bytes, a_row, b_row, sums);
  }
#pragma unroll
  for (int i = 0; i < T::m; i++) {
#pragma unroll
    for (int j = 0; j < T::n; j++) {
      const int64_t r = row + a_row + i * 16 + lane / 4, c = col + b_row + j * 8 + lane % 4 * 2;
      const float upper[2] = {sums[i][j][0], sums[i][j][1]};
      const float lower[2] = {sums[i][j][2], sums[i][j][3]};
      finish_columns(finish, r, c, upper);
      finish_columns(finish, r + 8, c, lower);
    }
  }
}

template <class T>
void run(const Cuda::State& s, const Sums& p) {
  const auto side = [&](const Side& x) {
    return Operand{static_cast<const bf16*>(x.data), x.rows, x.row_step, x.k_step, p.k};
  };
  const dim3 grid(blocks_of(p.a.rows, T::rows), blocks_of(p.b.rows, T::cols));
  const size_t shared = size_t(T::stages) * T::bytes;
  const bool packs = packed(p.a, p.dtype) && packed(p.b, p.dtype);
  launch(s, packs ? tensor_kernel<T, Packs> : tensor_kernel<T, Elements>, grid, T::threads, shared,
         side(p.a), side(p.b), finish_of(p));
}

}  // namespace

// Narrow tiles are for few rows, so that there are many blocks. Those of 32 rows are for decoding,
// where 128 rows of 512 to 2,048 outputs make about 128 blocks.
void tensor_product(const Cuda::State& s, const Sums& p, int tile) {
  switch (tile) {
    case 0:
      return run<Tile<0, 16, 16, 6>>(s, p);
    case 1:
      return run<Tile<1, 16, 16, 8>>(s, p);
    case 2:
      return run<Tile<2, 16, 16, 4>>(s, p);
    case 3:
      return run<Tile<3, 16, 16, 4>>(s, p);
    case 4:
      return run<Tile<4, 16, 32, 4>>(s, p);
    case 5:
      return run<Tile<5, 32, 32, 3>>(s, p);
    case 6:
      return run<Tile<6, 64, 32, 3>>(s, p);
  }
  TX_ASSERT(!"a tile");
}

}  // namespace cuda
}  // namespace tx
