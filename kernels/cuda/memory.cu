#include <string>

#include "kernels/cuda/state.h"

namespace tx {

void* take_memory(size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes ? bytes : 1);
  if (status == cudaSuccess) return data;
  cudaGetLastError();  // a refusal is not left behind for the next launch to find
  if (status != cudaErrorMemoryAllocation) check(status, "asking for memory");
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  const auto mebibytes = [](size_t n) { return std::to_string(n >> 20) + " MiB"; };
  throw Error("out of GPU memory: " + mebibytes(bytes) + " were asked for, " + mebibytes(free) +
              " of " + mebibytes(total) +
              " are free; take less at a time (--batch-tokens), or end what else uses the GPU");
}

void* Cuda::allocate(size_t bytes) { return take_memory(bytes); }

void Cuda::release(void* data) {
  if (data) cudaFree(data);  // also called while an error unwinds: no check
}

// Pageable host memory: it has been read when the call returns.
void Cuda::upload(void* to, const void* host, size_t bytes) {
  if (bytes)
    check(cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, state_->stream), "uploading");
}

void Cuda::download(void* host, const void* from, size_t bytes) const {
  if (!bytes) return;
  check(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, state_->stream), "downloading");
  wait();
}

void Cuda::copy(void* to, const void* from, size_t bytes) {
  if (bytes)
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, state_->stream), "copying");
}

void Cuda::wait() const { check(cudaStreamSynchronize(state_->stream), "waiting for the GPU"); }

void Cuda::zero(void* data, size_t bytes) {
  if (bytes) check(cudaMemsetAsync(data, 0, bytes, state_->stream), "clearing memory");
}

}  // namespace tx
