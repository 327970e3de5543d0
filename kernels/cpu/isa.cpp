#include "kernels/cpu/lanes.h"

#include <cstdlib>
#include <string_view>

namespace tx {
namespace {

// DNNL_MAX_CPU_ISA, oneDNN's own variable; empty: no limit.
std::string_view limit() {
  const char* value = std::getenv("DNNL_MAX_CPU_ISA");
  return value ? value : "";
}

int allowed_bytes() {
  const std::string_view isa = limit();
  if (isa == "SSE41" || isa == "AVX") return 16;
  return isa.starts_with("AVX2") ? 32 : 64;
}

}  // namespace

int register_bytes() {
#if defined(__x86_64__)
  const int allowed = allowed_bytes();
  const auto v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("popcnt");
  const auto v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v4 && allowed >= 64) return 64;
  if (v3 && allowed >= 32) return 32;
#endif
  return 16;
}

bool registers_round() {
#if defined(__x86_64__)
  const std::string_view isa = limit();
  const bool allowed = isa.empty() || isa == "ALL" || isa == "DEFAULT" ||
                       isa.find("BF16") != isa.npos || isa.find("AMX") != isa.npos;
  return register_bytes() == 64 && allowed && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

}  // namespace tx
