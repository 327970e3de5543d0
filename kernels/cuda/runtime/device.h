// Building blocks of kernels: element types, sums over a warp and a block in a fixed order, dropout
// masks. tests/emulator compiles the same source for the CPU.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/view.h"
#include "lib/base/error.h"
#include "lib/base/philox.h"

#define TX_DEVICE __device__ __forceinline__

namespace tx {

constexpr int warp_size = 32;
constexpr unsigned whole_warp = 0xffffffffu;

// nvcc 13.0 needs more registers for compute capability 10 and 12 than for 8 and 9: kernels that
// just fit there have one block less per multiprocessor here, instead of spilled registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int fewer_blocks = 1;
#else
constexpr int fewer_blocks = 0;
#endif

// In kernels of launch_early(), by every thread: memory that earlier kernels write, or that they
// read and this one writes, may be used from here on. Lets the next kernel start.
TX_DEVICE void wait_for_earlier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\ngriddepcontrol.launch_dependents;" ::: "memory");
#elif defined(TX_EMULATED_CUDA)
  emulator::wait_for_earlier();
#endif
}

struct bf16 {
  uint16_t bits;
};

TX_DEVICE float load(float x) { return x; }
TX_DEVICE float load(bf16 x) { return __uint_as_float(uint32_t(x.bits) << 16); }
TX_DEVICE void store(float& to, float x) { to = x; }
// Rounds to nearest even; NaN stays NaN.
TX_DEVICE void store(bf16& to, float x) {
#ifdef __CUDA_ARCH__
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
#else
  const uint32_t u = __float_as_uint(x);
  to.bits =
      (u & 0x7fffffffu) > 0x7f800000u ? 0x7fff : uint16_t((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
#endif
}
// Two elements as in memory: `low` is the first.
TX_DEVICE uint32_t bf16_pair(float low, float high) {
#ifdef __CUDA_ARCH__
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  bf16 a, b;
  store(a, low), store(b, high);
  return a.bits | uint32_t(b.bits) << 16;
#endif
}
// x rounded to T.
template <class T>
TX_DEVICE float rounded(float x) {
  T t;
  store(t, x);
  return load(t);
}

// `count` consecutive elements moved at once; the address must be aligned to their bytes.
template <class T, int count>
struct alignas(sizeof(T) * count) Pack {
  T at[count];
};

TX_DEVICE bool given(const Matrix& m) { return m.data != nullptr; }

// Host: calls f(T{}) with the element type of dtype. There is no f64 on this device.
template <class F>
void with_type(DType dtype, F&& f) {
  if (dtype == DType::f32) return f(float{});
  if (dtype == DType::bf16) return f(bf16{});
  TX_ASSERT(!"f32 or bf16");
}

// Host: whether every row starts at an address aligned for packs of `bytes` and is whole packs.
inline bool packs(const Matrix& m, size_t bytes) {
  const size_t e = size_of(m.dtype);
  return reinterpret_cast<uintptr_t>(m.data) % bytes == 0 && size_t(m.stride) * e % bytes == 0 &&
         size_t(m.cols) * e % bytes == 0;
}

// Every lane gets the sum (or the largest) of all 32, added in the same order on every run.
template <class A>
TX_DEVICE A warp_sum(A x) {
  for (int step = warp_size / 2; step > 0; step /= 2) x += __shfl_xor_sync(whole_warp, x, step);
  return x;
}
TX_DEVICE float warp_max(float x) {
  for (int step = warp_size / 2; step > 0; step /= 2)
    x = fmaxf(x, __shfl_xor_sync(whole_warp, x, step));
  return x;
}

// The sum over a block of up to 32 whole warps, for every thread. `part`: 32 shared values.
template <class A>
TX_DEVICE A block_sum(A x, A* part) {
  x = warp_sum(x);
  const int warps = int(blockDim.x) / warp_size, lane = int(threadIdx.x) % warp_size;
  if (lane == 0) part[threadIdx.x / warp_size] = x;
  __syncthreads();
  const A total = warp_sum(lane < warps ? part[lane] : A(0));
  __syncthreads();
  return total;
}

// The mask bits of 8 features (block `block` of a row), 16 each, as view.h says.
struct MaskBits {
  uint32_t word[4];
  TX_DEVICE uint32_t operator[](int j) const { return (word[j / 2] >> (j % 2 * 16)) & 0xffffu; }
};
TX_DEVICE MaskBits mask_bits(const Dropout& drop, int64_t row, uint32_t block, int head = 0) {
  const Philox::Block b =
      Philox::block(drop.seed, drop.site + (uint32_t(head) << 16), uint32_t(drop.record->step),
                    drop.keys.pair[row], drop.keys.position[row], block);
  return {{b.word[0], b.word[1], b.word[2], b.word[3]}};
}

// The block's dynamic shared memory, 128-byte aligned.
template <class T>
TX_DEVICE T* dynamic_shared() {
#ifdef TX_EMULATED_CUDA
  return static_cast<T*>(emulator::shared_memory());
#else
  extern __shared__ __align__(128) unsigned char tx_shared[];
  return reinterpret_cast<T*>(tx_shared);
#endif
}

}  // namespace tx
