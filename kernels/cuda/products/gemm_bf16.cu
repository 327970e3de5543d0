// Products of bf16 on tensor cores, c (M,N) = a (M,K) b (N,K)^T. A block computes one tile of c in
// steps of 64 along K: slices of a and b are loaded to shared memory several steps ahead, as rows
// of 128 bytes whose eight chunks are permuted by the row's number, against bank conflicts. Rows
// and elements beyond the matrices are zero. Warps multiply fragments with mma m16n8k16. With few
// blocks, several groups of warps share the parts of K, which the first one adds in order.
#include <type_traits>

#include "kernels/cuda/products/gemm.h"
#include "kernels/cuda/runtime/mma.h"
#include "kernels/cuda/runtime/octet.h"

namespace tx {
namespace cuda {
namespace {

constexpr int kStep = 64;             // of K, elements of one slice
constexpr int row_bytes = kStep * 2;  // of a slice
constexpr int chunks = row_bytes / 16;
constexpr int part_steps = kPart / kStep;

// The position of chunk `chunk` of row `row` in a slice.
TX_DEVICE int chunk_at(int row, int chunk) { return row * row_bytes + (chunk ^ row % chunks) * 16; }

struct Operand {
  const bf16* data;
  int64_t rows, row_step, k_step, k;
};

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

// Loads a group's slices of `rows` rows of an operand, from `first` on, in the order of its parts,
// with the group's threads; this class in packs of 16 bytes along k, without waiting. K is a
// multiple of 8.
template <class T, int rows>
class Packs {
 public:
  TX_DEVICE Packs(const Operand& from, int64_t first)
      : chunk_(int(threadIdx.x) % chunks),
        row_(int(threadIdx.x) % T::group / chunks),
        rows_left_(int(min(from.rows - first, int64_t(rows))) - row_),
        k_(int(threadIdx.x) / T::group * kPart + chunk_ * 8),
        k_end_(int(from.k)),
        step_(from.row_step * apart),
        source_(from.data + (first + row_) * from.row_step + k_) {}
  TX_DEVICE void next(int step, unsigned char* to) {
    const bool inside = k_ < k_end_;
#pragma unroll
    for (int i = 0; i < rows / apart; i++)
      copy_async_16_or_zero(to + chunk_at(row_ + i * apart, chunk_), source_ + i * step_,
                            inside && i * apart < rows_left_);
    const int on =
        T::groups > 1 && (step + 1) % part_steps == 0 ? kStep + (T::groups - 1) * kPart : kStep;
    source_ += on, k_ += on;
  }

 private:
  static constexpr int apart = T::group / chunks;  // rows between two copies of a thread
  static_assert(rows % apart == 0);
  int chunk_, row_, rows_left_, k_, k_end_;
  int64_t step_;
  const bf16* source_;
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
using Fragments = float[T::m][T::n][4];

// One slice: the warp's fragments from row `a_row` of a and `b_row` of b on.
template <class T>
TX_DEVICE void multiply(const unsigned char* a, const unsigned char* b, int a_row, int b_row,
                        Fragments<T>& sums) {
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

// Fragments are stored in packs of 16 bytes: lane t of the four that hold a row of one collects all
// of it, or in f32 half, from the others. `row` and `col` are the first of the warp.
TX_DEVICE uint32_t from_lane(uint32_t word, int apart) {
  return __shfl_xor_sync(whole_warp, word, apart);
}

// Word t of lane k becomes word k of lane t.
TX_DEVICE void transpose(uint32_t (&word)[4], int t) {
#pragma unroll
  for (int apart = 1; apart <= 2; apart *= 2) {
    const bool second = t & apart;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      if (k & apart) continue;
      const uint32_t other = from_lane(second ? word[k] : word[k + apart], apart);
      word[k] = second ? other : word[k];
      word[k + apart] = second ? word[k + apart] : other;
    }
  }
}

template <class T, class Out>
TX_DEVICE void finish_wide(const Finish& f, int64_t row, int64_t col, const Fragments<T>& sums) {
  const int lane = int(threadIdx.x) % warp_size, g = lane / 4, t = lane % 4;
  Pack<float, 2> bias[T::n];
#pragma unroll
  for (int j = 0; j < T::n; j++) {
    bias[j] = {};
    const int64_t column = col + j * 8;
    if (f.bias && column < f.cols)
      bias[j] = *reinterpret_cast<const Pack<float, 2>*>(f.bias + column + t * 2);
  }
  const auto value = [&](int i, int j, int k) {
    float sum = sums[i][j][k];
    if (f.bias) sum += bias[j].at[k % 2];
    return f.relu && sum <= 0 ? 0 : sum;  // NaN stays NaN
  };
  const auto put = [&](int64_t r, int64_t c, const uint32_t(&word)[4]) {
    if (r < f.rows && c < f.cols)
      store_pack(static_cast<Out*>(f.c) + r * f.stride + c, word[0], word[1], word[2], word[3]);
  };
#pragma unroll
  for (int i = 0; i < T::m; i++) {
    const int64_t upper = row + i * 16 + g;
    if constexpr (std::is_same_v<Out, bf16>) {
#pragma unroll
      for (int j = 0; j < T::n; j += 2) {
        const auto pair = [&](int n, int k) {
          return bf16_pair(value(i, n, k), value(i, n, k + 1));
        };
        uint32_t word[4] = {pair(j, 0), pair(j + 1, 0), pair(j, 2), pair(j + 1, 2)};
        transpose(word, t);
        put(upper + t / 2 * 8, col + (j + t % 2) * 8, word);
      }
    } else {
      const bool second = t % 2;
#pragma unroll
      for (int j = 0; j < T::n; j++) {
        uint32_t own[2], other[2];
#pragma unroll
        for (int k = 0; k < 2; k++) {
          const uint32_t high = bits_of(value(i, j, k)), low = bits_of(value(i, j, k + 2));
          own[k] = second ? low : high;
          other[k] = from_lane(second ? high : low, 1);
        }
        const uint32_t word[4] = {second ? other[0] : own[0], second ? other[1] : own[1],
                                  second ? own[0] : other[0], second ? own[1] : other[1]};
        put(upper + t % 2 * 8, col + j * 8 + t / 2 * 4, word);
      }
    }
  }
}

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

template <class T>
TX_DEVICE void add_part(const Fragments<T>& part, Fragments<T>& total) {
#pragma unroll
  for (int i = 0; i < T::m; i++)
#pragma unroll
    for (int j = 0; j < T::n; j++)
#pragma unroll
      for (int k = 0; k < 4; k++) total[i][j][k] += part[i][j][k];
}

// The parts of a round, one of each group, of which `count` exist, are added in the first group.
template <class T>
TX_DEVICE void add_round(int count, const Fragments<T>& part, float* shared, Fragments<T>& total) {
  const int group = int(threadIdx.x) / T::group;
  float* own = shared + threadIdx.x;  // element e at e * T::threads
  if (group > 0) {
#pragma unroll
    for (int e = 0; e < T::m * T::n * 4; e++)
      own[e * T::threads] = part[e / 4 / T::n][e / 4 % T::n][e % 4];
  }
  __syncthreads();
  if (group > 0) return;  // who writes again only after the barriers of the next round
  add_part<T>(part, total);
  for (int g = 1; g < count; g++) {
#pragma unroll
    for (int e = 0; e < T::m * T::n * 4; e++)
      total[e / 4 / T::n][e / 4 % T::n][e % 4] += own[e * T::threads + g * T::group];
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
  const auto fetch = [&](int step, int stage) {
    if (step < steps) {
      unsigned char* to = shared + stage * T::bytes;
      left.next(step, to), right.next(step, to + T::a_bytes);
    }
    copy_async_commit();
  };
  const int warp = int(threadIdx.x) % T::group / warp_size;
  const int a_row = warp / T::across * T::m * 16, b_row = warp % T::across * T::n * 8;
  Fragments<T> total = {};
#pragma unroll
  for (int step = 0; step < T::stages - 1; step++) fetch(step, step);
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
  if constexpr (std::is_same_v<Out, void>)
    finish_any<T>(finish, row + a_row, col + b_row, total);
  else
    finish_wide<T, Out>(finish, row + a_row, col + b_row, total);
}

template <class T>
void run(const Cuda::State& s, const Sums& p) {
  const auto side = [&](const Side& x) {
    return Operand{static_cast<const bf16*>(x.data), x.rows, x.row_step, x.k_step, p.k};
  };
  const dim3 grid(blocks_of(p.a.rows, T::rows), blocks_of(p.b.rows, T::cols));
  const auto start = [&](auto* kernel) {
    launch(s, kernel, grid, T::threads, T::shared_bytes, side(p.a), side(p.b), finish_of(p));
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
    return parts > T::groups / 2 && T::shared_bytes <= s.shared_bytes_limit;
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
void tensor_product(const Cuda::State& s, const Sums& p, int tile) {
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

}  // namespace cuda
}  // namespace tx
