#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

#include "kernels/cuda/runtime/device.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {

namespace {

constexpr int copying_threads = 256;

__global__ void copy_words(uint32_t* to, const uint32_t* from, int64_t words) {
  wait_for_earlier();
  const int64_t i = int64_t(blockIdx.x) * copying_threads + int(threadIdx.x);
  if (i < words) to[i] = from[i];
}

}  // namespace

void* take_memory(size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes ? bytes : 1);
  if (status == cudaSuccess) return data;
  cudaGetLastError();  // clears the error, or the next launch would report it
  if (status != cudaErrorMemoryAllocation) check(status, "allocating memory");
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  const auto mebibytes = [](size_t n) { return std::to_string(n >> 20) + " MiB"; };
  throw Error("out of GPU memory: cannot allocate " + mebibytes(bytes) + ", " + mebibytes(free) +
              " of " + mebibytes(total) +
              " are free; lower --batch-tokens, or stop other programs on the GPU");
}

void* Cuda::allocate(size_t bytes) { return take_memory(bytes); }

void Cuda::release(void* data) {
  if (!data) return;
  state_->drain();
  cudaFree(data);  // unchecked: also called while an exception unwinds
}

Staging::~Staging() {
  for (const Half& half : halves_) {
    if (half.data) cudaFreeHost(half.data);
    if (half.left) cudaEventDestroy(half.left);
  }
}

char* Staging::take(size_t bytes, cudaStream_t stream) {
  TX_ASSERT(bytes <= most);
  const size_t rounded = (bytes + 63) / 64 * 64;
  if (used_ + rounded > most) {
    check(cudaEventRecord(halves_[now_].left, stream), "recording an event");
    now_ = 1 - now_;
    used_ = 0;
    if (halves_[now_].left) check(cudaEventSynchronize(halves_[now_].left), "waiting for a copy");
  }
  Half& half = halves_[now_];
  if (!half.data) {
    void* data = nullptr;
    check(cudaMallocHost(&data, most), "allocating page-locked memory");
    half.data = static_cast<char*>(data);
    check(cudaEventCreateWithFlags(&half.left, cudaEventDisableTiming), "creating an event");
  }
  char* taken = half.data + used_;
  used_ += rounded;
  return taken;
}

// In pieces through page-locked memory: CUDA copies other host memory synchronously on some systems
// only, not where the GPU reads it by itself (HMM, GH200). `host` has been read when this returns.
void Cuda::upload(void* to, const void* host, size_t bytes) {
  TX_ASSERT(!bytes || !state_->capturing);
  for (size_t done = 0, piece; done < bytes; done += piece) {
    piece = std::min(bytes - done, Staging::most);
    char* const staged = state_->staging.take(piece, state_->stream);
    std::memcpy(staged, static_cast<const char*>(host) + done, piece);
    check(cudaMemcpyAsync(static_cast<char*>(to) + done, staged, piece, cudaMemcpyHostToDevice,
                          state_->stream),
          "uploading");
  }
}

void Cuda::download(void* host, const void* from, size_t bytes) const {
  TX_ASSERT(!bytes || !state_->capturing);
  if (bytes && !state_->peers.empty()) wait();  // take() may wait without checking peers
  for (size_t done = 0, piece; done < bytes; done += piece) {
    piece = std::min(bytes - done, Staging::most);
    char* const staged = state_->staging.take(piece, state_->stream);
    check(cudaMemcpyAsync(staged, static_cast<const char*>(from) + done, piece,
                          cudaMemcpyDeviceToHost, state_->stream),
          "downloading");
    wait();
    std::memcpy(static_cast<char*>(host) + done, staged, piece);
  }
}

void Cuda::copy(void* to, const void* from, size_t bytes) {
  if (bytes)
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, state_->stream), "copying");
}

void* Cuda::allocate_shared(size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMallocHost(&data, bytes ? bytes : 1);
  cudaGetLastError();  // clears the error, or the next launch would report it
  check(status, "allocating page-locked memory");
  return data;
}

void Cuda::release_shared(void* data) {
  if (!data) return;
  state_->drain();
  cudaStreamSynchronize(state_->stream);  // kernels may still use it
  cudaFreeHost(data);
}

void Cuda::wait() const { state_->wait(); }

// By a kernel: a copy engine would have to wait for the kernels before it, and those after it for
// the engine. Page-locked memory has the same address on the device.
void Cuda::copy_shared(void* to, const void* from, size_t bytes) {
  TX_ASSERT(bytes % 4 == 0);
  const int64_t words = int64_t(bytes / 4);
  launch_early(*state_, copy_words, blocks_of(words, copying_threads), copying_threads, 0,
               static_cast<uint32_t*>(to), static_cast<const uint32_t*>(from), words);
}

namespace {

using Clock = std::chrono::steady_clock;

// Polls until the stream has finished; every 100 ms calls `look` with the time waited so far.
template <class Look>
cudaError_t poll(cudaStream_t stream, const Look& look) {
  using std::chrono::microseconds, std::chrono::milliseconds;
  const Clock::time_point start = Clock::now();
  Clock::time_point next = start + milliseconds(100);
  for (;;) {
    const cudaError_t status = cudaStreamQuery(stream);
    if (status != cudaErrorNotReady) return status;
    cudaGetLastError();  // clears the error, or the next launch would report it
    const Clock::time_point now = Clock::now();
    if (now - start > milliseconds(20)) std::this_thread::sleep_for(microseconds(50));
    if (now < next) continue;
    look(now - start);
    next = now + milliseconds(100);
  }
}

}  // namespace

void Cuda::State::wait() {
  if (peers.empty()) return check(cudaStreamSynchronize(stream), "waiting for the GPU");
  check(poll(stream,
             [&](auto) {
               for (Peers* each : peers) each->check();
             }),
        "waiting for the GPU");
}

void Cuda::State::drain() {
  if (peers.empty() || std::uncaught_exceptions() == 0) return;
  constexpr std::chrono::seconds most(5);
  poll(stream, [&](Clock::duration waited) {
    if (waited < most) return;
    for (Peers* each : peers) each->give_up();
  });
}

void Cuda::zero(void* data, size_t bytes) {
  if (bytes) check(cudaMemsetAsync(data, 0, bytes, state_->stream), "clearing memory");
}

}  // namespace tx
