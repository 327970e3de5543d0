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

std::string resolve_device(const std::string& device) {
  if (device != "auto") return device;
  return no_gpu_reason().empty() ? "cuda" : "cpu";
}

AutoPrecision auto_precision(const std::string& device) {
  return (device == "cuda" ? cuda() : cpu()).auto_precision();
}

Backend make_backend(const std::string& device, int threads) {
  const std::string resolved = resolve_device(device);
  if (resolved != "cpu" && resolved != "cuda")
    throw UsageError("--device " + device + ": choose cpu, cuda or auto");
  const std::string reason = resolved == "cuda" ? no_gpu_reason() : "";
  if (!reason.empty()) throw UsageError("--device cuda: " + reason + "; use --device cpu");
  Backend backend = (resolved == "cuda" ? cuda() : cpu()).make();
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
