#include "kernels/cpu/lanes.h"

#include <cstdlib>
#include <string_view>

namespace tx {
namespace {

// What DNNL_MAX_CPU_ISA, oneDNN's own variable, allows.
int allowed_bytes() {
  const char* value = std::getenv("DNNL_MAX_CPU_ISA");
  const std::string_view isa = value ? value : "";
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

}  // namespace tx
