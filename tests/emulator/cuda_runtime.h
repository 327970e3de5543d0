// Replaces CUDA's <cuda_runtime.h> when the kernels are compiled for the CPU: the part of the
// runtime and of the device functions that kernels/cuda uses, with CUDA's names. See README.
#pragma once
#include <math.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

#define CUDART_VERSION 13000

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) int4 {
  int x, y, z, w;
};

inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureUnjoined = 904,
};
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaEventDefault = 0;

struct EmulatedStream;
struct EmulatedEvent;
struct EmulatedGraph;
using cudaStream_t = EmulatedStream*;
using cudaEvent_t = EmulatedEvent*;
using cudaGraph_t = EmulatedGraph*;
using cudaGraphExec_t = EmulatedGraph*;

struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  size_t totalGlobalMem;
  size_t sharedMemPerBlockOptin;
  int multiProcessorCount, major, minor;
};

const char* cudaGetErrorName(cudaError_t);
const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDevice(int*);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
cudaError_t cudaDriverGetVersion(int*);
cudaError_t cudaRuntimeGetVersion(int*);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaMalloc(void**, size_t);
cudaError_t cudaFree(void*);
cudaError_t cudaMallocHost(void**, size_t);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned flags = 0);
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus*);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t);
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int);

// -- device side: one thread of one block runs at a time
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace emulator {

// Appends `work` to a stream. Only `work` may access device memory.
void enqueue(cudaStream_t stream, std::function<void()> work);
// Work that waits for other processes: it is called repeatedly until it returns true.
void enqueue_polled(cudaStream_t stream, std::function<bool()> work);
// Whether these bytes lie within one allocation of the device.
bool is_device_memory(const void* data, size_t bytes);
// Fails the launch of a kernel if the thread's current device is not the stream's.
bool may_launch(cudaStream_t stream);

// Runs body once for every thread of every block.
// early: every thread must call wait_for_earlier().
void run_grid(dim3 grid, dim3 block, size_t shared, bool early, const std::function<void()>& body);
void wait_for_earlier();

template <class F, class... A>
void launch(cudaStream_t stream, dim3 grid, dim3 block, size_t shared, bool early, F kernel,
            const A&... args) {
  if (!may_launch(stream)) return;
  enqueue(stream, [=, held = std::tuple<std::decay_t<A>...>(args...)] {
    run_grid(grid, block, shared, early, [&] { std::apply(kernel, held); });
  });
}

void* shared_memory();

enum class Collective { shuffle, vote, barrier, product, matrix };
// Every lane of `mask` copies `bytes` (at most 64) of *own to its slot and waits for the others.
// The last to arrive runs finish(slots, 64 bytes per lane), which may change them; then each lane
// copies its slot back to *own.
void warp_meet(unsigned mask, Collective kind, void* own, size_t bytes,
               const std::function<void(char* slots)>& finish);
void block_meet();

int lane();

template <class T>
T shuffle(unsigned mask, T value, const std::function<int(int lane)>& from) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  warp_meet(mask, Collective::shuffle, &value, sizeof value, [&](char* slots) {
    char taken[32][8];
    for (int i = 0; i < 32; ++i) std::memcpy(taken[i], slots + 64 * from(i), 8);
    for (int i = 0; i < 32; ++i) std::memcpy(slots + 64 * i, taken[i], 8);
  });
  return value;
}

unsigned ballot(unsigned mask, bool yes);

void mma_bf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]);
void ldmatrix(uint32_t (&r)[4], const void* row, bool transposed);
inline void ldmatrix_x4(uint32_t (&r)[4], const void* row) { ldmatrix(r, row, false); }
inline void ldmatrix_x4_transposed(uint32_t (&r)[4], const void* row) { ldmatrix(r, row, true); }
void wgmma_64x128(float (&c)[16][4], const void* a, const void* b, bool add);
void wgmma_commit();
void wgmma_wait_groups(int groups);
template <int groups>
void wgmma_wait(float (&)[16][4]) {
  wgmma_wait_groups(groups);
}
void copy_async(void* shared, const void* global, int bytes);
void copy_async_commit();
void copy_async_wait_groups(int groups);
template <int groups>
void copy_async_wait() {
  copy_async_wait_groups(groups);
}

}  // namespace emulator

inline void __syncthreads() { emulator::block_meet(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  emulator::warp_meet(mask, emulator::Collective::barrier, nullptr, 0, [](char*) {});
}
// Lanes may read from different source lanes, so each slot holds the source with the value.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int = 32) {
  struct {
    char value[8];
    int source;
  } own{};
  std::memcpy(own.value, &value, sizeof value);
  own.source = source & 31;
  emulator::warp_meet(mask, emulator::Collective::shuffle, &own, sizeof own, [](char* slots) {
    char taken[32][8];
    for (int i = 0; i < 32; ++i) {
      int from;
      std::memcpy(&from, slots + 64 * i + 8, 4);
      std::memcpy(taken[i], slots + 64 * (from & 31), 8);
    }
    for (int i = 0; i < 32; ++i) std::memcpy(slots + 64 * i, taken[i], 8);
  });
  std::memcpy(&value, own.value, sizeof value);
  return value;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int step, int = 32) {
  return emulator::shuffle(mask, value, [=](int i) { return i ^ step; });
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned step, int = 32) {
  return emulator::shuffle(mask, value,
                           [=](int i) { return i + int(step) < 32 ? i + int(step) : i; });
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned step, int = 32) {
  return emulator::shuffle(mask, value, [=](int i) { return i >= int(step) ? i - int(step) : i; });
}
inline unsigned __ballot_sync(unsigned mask, int yes) { return emulator::ballot(mask, yes != 0); }
inline int __any_sync(unsigned mask, int yes) { return emulator::ballot(mask, yes != 0) != 0; }
inline int __all_sync(unsigned mask, int yes) { return emulator::ballot(mask, yes != 0) == mask; }

inline unsigned __float_as_uint(float x) {
  unsigned u;
  std::memcpy(&u, &x, 4);
  return u;
}
inline float __uint_as_float(unsigned u) {
  float x;
  std::memcpy(&x, &u, 4);
  return x;
}
inline int __float_as_int(float x) { return int(__float_as_uint(x)); }
inline float __int_as_float(int x) { return __uint_as_float(unsigned(x)); }
inline long long __double_as_longlong(double x) {
  long long u;
  std::memcpy(&u, &x, 8);
  return u;
}
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __dadd_rn(double x, double y) { return x + y; }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class T>
T atomicAdd(T* at, T value) {
  static_assert(std::is_integral_v<T>, "sums of floats by atomics depend on timing");
  const T before = *at;
  *at += value;
  return before;
}
template <class T>
T atomicMax(T* at, T value) {
  static_assert(std::is_integral_v<T>);
  const T before = *at;
  *at = std::max(before, value);
  return before;
}
template <class T>
T atomicMin(T* at, T value) {
  static_assert(std::is_integral_v<T>);
  const T before = *at;
  *at = std::min(before, value);
  return before;
}
using std::isfinite;
using std::isinf;
using std::isnan;
using std::max;
using std::min;
