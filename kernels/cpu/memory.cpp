#include <sys/mman.h>

#include <cstdlib>
#include <string>

#include "kernels/cpu.h"
#include "kernels/cpu/profile.h"
#include "kernels/cpu/simd.h"

namespace tx {

void* Cpu::allocate(size_t bytes) {
  constexpr size_t huge = size_t(2) << 20;
  const size_t alignment = bytes >= 2 * huge ? huge : 64;
  const size_t rounded = bytes ? (bytes - 1) / alignment * alignment + alignment : alignment;
  void* data = rounded ? std::aligned_alloc(alignment, rounded) : nullptr;  // 0: overflow
  if (!data) throw Error("out of memory: cannot allocate " + std::to_string(bytes) + " bytes");
  if (alignment == huge) madvise(data, rounded, MADV_HUGEPAGE);
  return data;
}

void Cpu::release(void* data) { std::free(data); }
void Cpu::upload(void* to, const void* host, size_t bytes) {
  if (bytes) std::memcpy(to, host, bytes);
}
void Cpu::download(void* host, const void* from, size_t bytes) const {
  if (bytes) std::memcpy(host, from, bytes);
}
void Cpu::copy(void* to, const void* from, size_t bytes) {
  const Timed timed(profile_.get(), "copies", {2.0 * double(bytes), 0});
  if (bytes) std::memcpy(to, from, bytes);
}
void* Cpu::allocate_shared(size_t bytes) { return allocate(bytes); }
void Cpu::release_shared(void* data) { release(data); }
void Cpu::copy_shared(void* to, const void* from, size_t bytes) { copy(to, from, bytes); }
void Cpu::wait() const {}
std::string Cpu::device_id() const { return ""; }
std::string Cpu::mover_library() const { return ""; }
std::string Cpu::mover_id() const { return ""; }
std::unique_ptr<Mover> Cpu::make_mover(const std::string&, int, int, const std::function<void()>&) {
  return nullptr;
}
void Cpu::zero(void* data, size_t bytes) {
  const Timed timed(profile_.get(), "copies", {double(bytes), 0});
  if (bytes) std::memset(data, 0, bytes);
}

namespace {

template <class From, class To>
TX_CLONES void convert_rows(Matrix from, Matrix to, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < from.rows; ++i) {
    const From* x = from.row<From>(i);
    To* y = to.row<To>(i);
    for (int64_t j = 0; j < from.cols; ++j) store(y[j], acc_t<To>(load(x[j])));
  }
}

}  // namespace

void Cpu::convert(Matrix from, Matrix to) {
  const Timed timed(profile_.get(), "conversion", traffic(from, to));
  TX_ASSERT(from.rows == to.rows && from.cols == to.cols);
  with_type(from.dtype, [&](auto f) {
    with_type(to.dtype, [&](auto t) { convert_rows<decltype(f), decltype(t)>(from, to, threads); });
  });
}

}  // namespace tx
