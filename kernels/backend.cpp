#include "kernels/backend.h"

#include "lib/base/error.h"

namespace tx {

std::string no_gpu_reason() {
#if TX_HAVE_CUDA
  return Cuda::refusal();
#else
  return "built without CUDA (cmake -DTX_CUDA=ON)";
#endif
}

std::string resolve_device(const std::string& device) {
  if (device != "auto") return device;
  return no_gpu_reason().empty() ? "cuda" : "cpu";
}

bool has_fast_bf16(const std::string& device) { return device == "cuda" || Cpu::has_fast_bf16(); }

Backend make_backend(const std::string& device, int threads) {
  const std::string resolved = resolve_device(device);
  if (resolved == "cpu") return Cpu(threads);
  if (resolved != "cuda") throw UsageError("--device " + device + ": choose cpu, cuda or auto");
#if TX_HAVE_CUDA
  return Cuda(threads);
#else
  throw UsageError("--device cuda: " + no_gpu_reason() + "; use --device cpu");
#endif
}

void set_threads(Backend& backend, int threads) {
  if (Cpu* cpu = std::get_if<Cpu>(&backend)) cpu->threads = threads;
}

std::string describe_backends() {
#if TX_HAVE_CUDA
  return Cpu::describe() + Cuda::describe();
#else
  return Cpu::describe() + "CUDA: " + no_gpu_reason() + "\n";
#endif
}

}  // namespace tx
