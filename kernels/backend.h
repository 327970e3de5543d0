// The backend in use; on() visits it. A build without CUDA has the CPU alone.
#pragma once
#include <string>
#include <utility>
#include <variant>

#include "kernels/cpu.h"
#if TX_HAVE_CUDA
#include "kernels/cuda.h"
#endif

namespace tx {

#if TX_HAVE_CUDA
using Backend = std::variant<Cpu, Cuda>;
#else
using Backend = std::variant<Cpu>;
#endif

template <class F>
decltype(auto) on(Backend& backend, F&& f) {
  return std::visit(std::forward<F>(f), backend);
}

// "cpu", "cuda", or "auto": cuda where there is a GPU. Throws UsageError that says why a device is
// not to be had.
Backend make_backend(const std::string& device, int threads);
// Threads that a CPU's kernels use from now on; nothing on a GPU.
void set_threads(Backend& backend, int threads);
// "auto" resolved to "cpu" or "cuda"; others unchanged.
std::string resolve_device(const std::string& device);
// Why there is no GPU to be had; empty when there is one.
std::string no_gpu_reason();
// Whether bf16 products run on a (resolved) device at a speed worth choosing.
bool has_fast_bf16(const std::string& device);
// Lines for --version about every backend.
std::string describe_backends();

}  // namespace tx
