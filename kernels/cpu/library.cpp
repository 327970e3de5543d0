// What libtx-cpu.so exports for libtx.
#include "build_info.h"
#include "kernels/cpu.h"

const tx::KernelLibrary* tx_cpu() {
  using tx::Cpu;
  static const tx::KernelLibrary library{
      .version = TX_VERSION,
      .refusal = [] { return std::string(); },
      .no_bf16_reason = Cpu::no_bf16_reason,
      .has_fast_bf16 = Cpu::has_fast_bf16,
      .describe = Cpu::describe,
      .describe_ranks = [] { return std::string(); },
      .no_mover_reason = [] { return std::string(); },
      .choose = [](int) {},
      .make = []() -> tx::Backend { return std::make_unique<Cpu>(); },
  };
  return &library;
}
