// The entry point of libtx-cuda.so.
#include "build_info.h"
#include "kernels/cuda.h"

const tx::KernelLibrary* tx_cuda() {
  using tx::Cuda;
  static const tx::KernelLibrary library{
      .version = TX_VERSION,
      .refusal = Cuda::refusal,
      .auto_precision = [] { return tx::AutoPrecision{tx::DType::bf16, "GPU"}; },
      .describe = Cuda::describe,
      .describe_ranks = Cuda::describe_ranks,
      .no_mover_reason = Cuda::no_mover_reason,
      .choose = Cuda::choose,
      .make = []() -> tx::Backend { return std::make_unique<Cuda>(); },
  };
  return &library;
}
