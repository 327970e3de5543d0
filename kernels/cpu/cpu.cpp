#include "kernels/cpu.h"

#include <algorithm>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/profile.h"
#include "lib/base/error.h"
#include "lib/base/workers.h"

namespace tx {

Cpu::Cpu(int count) : products_(std::make_unique<Products>()) {
  isa_limit();  // refuses an unknown TX_MAX_ISA here, where no thread works yet
  use_threads(count);
}
Cpu::~Cpu() = default;

// libgomp keeps the largest team that a thread has had, and ends the process when it cannot start a
// team. So that is tried first, and the team started while there is room for it; a thread that goes
// on alone releases its team.
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

bool Cpu::has_fast_bf16() {
  if (gemm::OneDnn::built_in()) return gemm::OneDnn::has_avx512_bf16();
  return gemm::best_isa() >= gemm::Isa::avx512_bf16;
}

std::string Cpu::no_bf16_reason() {
  if (has_fast_bf16()) return {};
  if (!gemm::OneDnn::built_in()) {
    return "it needs a processor with AVX-512 BF16, or a tx built with oneDNN";
  }
  // oneDNN 2.6 has no bf16 product below AVX-512 and throws.
  return gemm::OneDnn::has_avx512() ? "" : "it needs a processor with AVX-512";
}

std::string Cpu::describe() {
  return "BLAS: " + gemm::blas_description() + "\noneDNN: " + gemm::OneDnn::description() + "\n";
}

bool Cpu::has_own_memory() const { return false; }
size_t Cpu::free_bytes() const { return 0; }
void Cpu::replay(int64_t, const std::function<void()>& work) { work(); }
void Cpu::forget_graphs() {}
std::string Cpu::tuning() const { return {}; }
void Cpu::set_tuning(const std::string&) {}

}  // namespace tx
