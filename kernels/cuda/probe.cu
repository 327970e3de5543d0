#include <cuda_runtime.h>

#include "kernels/cuda/probe.h"

namespace tx {

namespace {
std::string no_gpu_reason() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count == 0 ? "no device found" : "";
}
}  // namespace

std::string cuda_description() {
  const std::string runtime = "runtime " + std::to_string(CUDART_VERSION / 1000) + "." +
                              std::to_string(CUDART_VERSION % 1000 / 10);
  const std::string reason = no_gpu_reason();
  if (!reason.empty()) return runtime + ", no GPU here: " + reason;
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return runtime;
  return runtime + ", " + properties.name;
}

std::string cuda_refusal() {
  const std::string reason = no_gpu_reason();
  if (!reason.empty()) return "no GPU here: " + reason;
  return "this version has no CUDA kernels yet";
}

}  // namespace tx
