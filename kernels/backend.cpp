#include "kernels/backend.h"

#include "kernels/cuda/probe.h"
#include "lib/base/error.h"

namespace tx {

Backend make_backend(const std::string& device, int threads) {
  if (device == "cpu") return Cpu(threads);
  if (device != "cuda") throw UsageError("--device " + device + ": choose cpu or cuda");
  throw UsageError("--device cuda: " + cuda_refusal() + "; use --device cpu");
}

std::string describe_backends() { return Cpu::describe() + "CUDA: " + cuda_description() + "\n"; }

}  // namespace tx
