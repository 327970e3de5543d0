#include "kernels/backend.h"

#include "lib/base/error.h"

namespace tx {

namespace {

const KernelLibrary& cpu() {
  static const KernelLibrary& library = open_kernels("tx-cpu");
  return library;
}

const KernelLibrary& cuda() {
#if TX_HAVE_CUDA
  static const KernelLibrary& library = open_kernels("tx-cuda");
  return library;
#else
  throw UsageError("built without CUDA (cmake -DTX_CUDA=ON)");
#endif
}

// For --version.
std::string lines_of(const std::string& name, const KernelLibrary& (*library)()) {
  try {
    return library().describe();
  } catch (const Error& error) {
    return name + ": " + error.what() + "\n";
  }
}

}  // namespace

std::string no_gpu_reason() {
  try {
    return cuda().refusal();
  } catch (const Error& error) {
    return error.what();
  }
}

Device resolve_device(Device device) {
  if (device != Device::automatic) return device;
  return no_gpu_reason().empty() ? Device::cuda : Device::cpu;
}

AutoPrecision auto_precision(Device device) {
  return (device == Device::cuda ? cuda() : cpu()).auto_precision();
}

Backend make_backend(Device device, int threads) {
  const bool gpu = resolve_device(device) == Device::cuda;
  const std::string reason = gpu ? no_gpu_reason() : "";
  if (!reason.empty()) throw UsageError("--device cuda: " + reason + "; use --device cpu");
  Backend backend = (gpu ? cuda() : cpu()).make();
  set_threads(backend, threads);
  return backend;
}

void choose_gpu(int number) { cuda().choose(number); }

int set_threads(Backend& backend, int threads) { return backend->use_threads(threads); }

std::string no_mover_reason() try { return cuda().no_mover_reason(); } catch (const Error& error) {
  return error.what();
}

std::string describe_movers() try { return cuda().describe_ranks(); } catch (const Error& error) {
  return "NCCL: not used: " + std::string(error.what()) + "\n";
}

std::string describe_cpu() { return lines_of("CPU", cpu); }
std::string describe_backends() { return describe_cpu() + lines_of("CUDA", cuda); }

}  // namespace tx
