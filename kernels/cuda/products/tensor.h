// What the products of bf16 share (gemm_bf16.cu, gemm_norm.cu, gemm_wgmma.cu): slices in shared
// memory, products of a slice by mma, the sums of parts of K, and the store of packed rows.
#pragma once
#include <type_traits>

#include "kernels/cuda/products/gemm.h"
#include "kernels/cuda/runtime/mma.h"
#include "kernels/cuda/runtime/octet.h"

namespace tx::cuda {

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

template <class T>
using Fragments = float[T::m][T::n][4];

// One slice: the warp's fragments from row `a_row` of a and `b_row` of b on.
template <class T>
TX_DEVICE void multiply(const unsigned char* a, const unsigned char* b, int a_row, int b_row,
                        Fragments<T>& sums) {
  constexpr int a_rows = T::rows < 16 ? T::rows : 16;  // fewer are repeated
  const int lane = int(threadIdx.x) % warp_size;
#pragma unroll
  for (int k = 0; k < kStep / 16; k++) {
    uint32_t left[T::m][4];
#pragma unroll
    for (int i = 0; i < T::m; i++)
      ldmatrix_x4(left[i], a + chunk_at(a_row + i * 16 + lane % a_rows, 2 * k + lane / 16));
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

// Elements of bf16: pair(i, j, k) is k and k + 1 of fragment (i, j).
template <class T, class Pair>
TX_DEVICE void store_pairs(const Finish& f, int64_t row, int64_t col, const Pair& pair) {
  const int lane = int(threadIdx.x) % warp_size, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int i = 0; i < T::m; i++) {
    const int64_t r = row + i * 16 + g + t / 2 * 8;
#pragma unroll
    for (int j = 0; j < T::n; j += 2) {
      uint32_t word[4] = {pair(i, j, 0), pair(i, j + 1, 0), pair(i, j, 2), pair(i, j + 1, 2)};
      transpose(word, t);
      const int64_t c = col + (j + t % 2) * 8;
      if (r < f.rows && c < f.cols)
        store_pack(static_cast<bf16*>(f.c) + r * f.stride + c, word[0], word[1], word[2], word[3]);
    }
  }
}

// The biases of a warp's columns, from `col` on.
template <class T>
struct Biases {
  Pack<float, 2> of[T::n];
  TX_DEVICE void read(const Finish& f, int64_t col) {
#pragma unroll
    for (int j = 0; j < T::n; j++) {
      of[j] = {};
      const int64_t column = col + j * 8;
      if (f.bias && column < f.cols)
        of[j] = *reinterpret_cast<const Pack<float, 2>*>(f.bias + column + threadIdx.x % 4 * 2);
    }
  }
};

template <class T, class Out>
TX_DEVICE void finish_wide(const Finish& f, const Biases<T>& biases, int64_t row, int64_t col,
                           const Fragments<T>& sums) {
  const int lane = int(threadIdx.x) % warp_size, g = lane / 4, t = lane % 4;
  const auto value = [&](int i, int j, int k) {
    float sum = sums[i][j][k];
    if (f.bias) sum += biases.of[j].at[k % 2];
    return f.relu && sum <= 0 ? 0 : sum;  // NaN stays NaN
  };
  if constexpr (std::is_same_v<Out, bf16>) {
    return store_pairs<T>(f, row, col, [&](int i, int j, int k) {
      return bf16_pair(value(i, j, k), value(i, j, k + 1));
    });
  }
  const bool second = t % 2;
#pragma unroll
  for (int i = 0; i < T::m; i++) {
    const int64_t r = row + i * 16 + g + t % 2 * 8;
#pragma unroll
    for (int j = 0; j < T::n; j++) {
      uint32_t own[2], other[2];
#pragma unroll
      for (int k = 0; k < 2; k++) {
        const uint32_t high = bits_of(value(i, j, k)), low = bits_of(value(i, j, k + 2));
        own[k] = second ? low : high;
        other[k] = from_lane(second ? high : low, 1);
      }
      const int64_t c = col + j * 8 + t / 2 * 4;
      if (r < f.rows && c < f.cols)
        store_pack(static_cast<float*>(f.c) + r * f.stride + c, second ? other[0] : own[0],
                   second ? other[1] : own[1], second ? own[0] : other[0],
                   second ? own[1] : other[1]);
    }
  }
}

}  // namespace tx::cuda
