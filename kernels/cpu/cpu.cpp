#include "kernels/cpu.h"

#include "kernels/cpu/gemm.h"
#include "lib/base/error.h"

namespace tx {

Cpu::Cpu(int count) : threads(count), products_(std::make_unique<Products>()) {
  TX_ASSERT(count >= 1);
}
Cpu::~Cpu() = default;
Cpu::Cpu(Cpu&&) noexcept = default;

bool Cpu::has_fast_bf16() {
  if (gemm::OneDnn::built_in()) return gemm::OneDnn::has_avx512_bf16();
  return gemm::best_isa() == gemm::Isa::avx512_bf16;
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

bool Cpu::apart() const { return false; }
size_t Cpu::free_bytes() const { return 0; }
void Cpu::replay(int64_t, const std::function<void()>& work) { work(); }
void Cpu::forget_graphs() {}
void Cpu::start_profile() {}
std::string Cpu::profile_report() { return {}; }
std::string Cpu::tuning() const { return {}; }
void Cpu::set_tuning(const std::string&) {}

}  // namespace tx
