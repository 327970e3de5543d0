#include "kernels/cpu.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "build_info.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/profile.h"
#include "kernels/cpu/simd.h"
#include "lib/base/error.h"
#include "lib/base/workers.h"

namespace tx {

Cpu::Cpu(int count) : products_(std::make_unique<Products>()) {
  isa_limit();  // throws for an invalid TX_MAX_ISA, before any thread starts
  use_threads(count);
}
Cpu::~Cpu() = default;

// libgomp keeps the largest team that a thread has used, and terminates the process if it cannot
// start a team. So this tests how many threads can be started and starts the team at once; a thread
// that continues alone releases its team.
int Cpu::use_threads(int count) {
  TX_ASSERT(count >= 1);
#ifdef _OPENMP
  static thread_local int largest = 1;
  if (count > largest) {
    largest = std::max(largest, startable_threads(count));
#pragma omp parallel num_threads(largest)
    {}
  }
  if (count == 1 && largest > 1) {
    omp_pause_resource(omp_pause_soft, omp_get_initial_device());
    largest = 1;
  }
  threads = std::min(count, largest);
#else
  threads = count;
#endif
  return threads;
}

AutoPrecision Cpu::auto_precision() {
  switch (gemm::best_isa()) {
    case gemm::Isa::amx:
      return {DType::bf16, "AMX"};
    case gemm::Isa::avx512_bf16:
      return {DType::bf16, "AVX-512 BF16"};
    case gemm::Isa::neon_bf16:
      return {DType::bf16, "ARM BF16"};
    default:
      return {DType::f32,
              registers_round() ? "bf16 is slower on this processor" : "no bf16 instructions"};
  }
}

std::string Cpu::describe() {
  const AutoPrecision precision = auto_precision();
  return "BLAS: " + gemm::blas_description() + "\noneDNN: " + gemm::OneDnn::description() +
         "\n--precision auto: " + (precision.dtype == DType::bf16 ? "bf16, " : "fp32, ") +
         precision.reason + "\n";
}

bool Cpu::has_own_memory() const { return false; }
size_t Cpu::free_bytes() const { return 0; }
void Cpu::replay(int64_t, const std::function<void()>& work) { work(); }
void Cpu::forget_graphs() {}
std::string Cpu::tuning() const { return {}; }
void Cpu::set_tuning(const std::string&) {}

namespace {

// In the order of IsaLimit; those of x86 as in oneDNN's DNNL_MAX_CPU_ISA.
#ifdef __aarch64__
constexpr const char* isa_names[] = {"NEON", "DOTPROD", "I8MM", "BF16", "ALL"};
#else
constexpr const char* isa_names[] = {
    "SSE41",           "AVX2", "AVX2_VNNI", "AVX512_CORE", "AVX512_CORE_VNNI", "AVX512_CORE_BF16",
    "AVX512_CORE_AMX", "ALL"};
#endif

IsaLimit limit_of_environment() {
  const char* value = std::getenv("TX_MAX_ISA");
  if (value == nullptr || *value == '\0') return IsaLimit::all;
  int place = 0;
  std::string known;
  for (const char* name : isa_names) {
    if (std::string(value) == name) return IsaLimit(place);
    known += (place++ ? ", " : "") + std::string(name);
  }
  throw Error("TX_MAX_ISA=" + std::string(value) + " is not an instruction set; use one of " +
              known);
}

}  // namespace

IsaLimit isa_limit() {
  static const IsaLimit limit = limit_of_environment();
  return limit;
}

int register_bytes() {
#if defined(__x86_64__)
  const auto v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("popcnt");
  const auto v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v4 && isa_limit() >= IsaLimit::avx512_core) return 64;
  if (v3 && isa_limit() >= IsaLimit::avx2) return 32;
#endif
  return 16;
}

bool registers_round() {
#if defined(__x86_64__)
  return register_bytes() == 64 && isa_limit() >= IsaLimit::avx512_core_bf16 &&
         __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

}  // namespace tx

// The entry point of libtx-cpu.so.
const tx::KernelLibrary* tx_cpu() {
  using tx::Cpu;
  static const tx::KernelLibrary library{
      .version = TX_VERSION,
      .refusal = [] { return std::string(); },
      .auto_precision = Cpu::auto_precision,
      .describe = Cpu::describe,
      .describe_ranks = [] { return std::string(); },
      .no_mover_reason = [] { return std::string(); },
      .choose = [](int) {},
      .make = []() -> tx::Backend { return std::make_unique<Cpu>(); },
  };
  return &library;
}
