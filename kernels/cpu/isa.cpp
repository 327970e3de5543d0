#include "kernels/cpu/isa.h"

#include <cstdlib>
#include <string>

#include "lib/base/error.h"

namespace tx {
namespace {

// Those of oneDNN's DNNL_MAX_CPU_ISA, in the order of IsaLimit.
constexpr const char* isa_names[] = {
    "SSE41",           "AVX2", "AVX2_VNNI", "AVX512_CORE", "AVX512_CORE_VNNI", "AVX512_CORE_BF16",
    "AVX512_CORE_AMX", "ALL"};

IsaLimit limit_of_environment() {
  const char* value = std::getenv("TX_MAX_ISA");
  if (value == nullptr || *value == '\0') return IsaLimit::all;
  int place = 0;
  std::string known;
  for (const char* name : isa_names) {
    if (std::string(value) == name) return IsaLimit(place);
    known += (place++ ? ", " : "") + std::string(name);
  }
  throw Error("TX_MAX_ISA=" + std::string(value) + " names no instruction set; set it to one of " +
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
