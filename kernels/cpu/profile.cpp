#include "kernels/cpu/profile.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include "kernels/cpu/gemm.h"

namespace tx {
namespace {

// The best rate of several runs of `work`, which does `amount` each time, per second.
double best_rate(double amount, const std::function<void()>& work) {
  double best = 0;
  work();
  for (int turn = 0; turn < 8; ++turn) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    best = std::max(best, amount / std::max(spent.count(), 1e-9));
  }
  return best;
}

// Bytes read and written per second by copies of `bytes` on all threads.
double copy_rate(int64_t bytes, int threads) {
  const gemm::Buffer from(gemm::aligned(size_t(bytes))), to(gemm::aligned(size_t(bytes)));
  std::memset(from.get(), 1, size_t(bytes));
  std::memset(to.get(), 1, size_t(bytes));
  return best_rate(2.0 * double(bytes), [&] {
    const int64_t part = bytes / threads;
#pragma omp parallel for num_threads(threads)
    for (int t = 0; t < threads; ++t)
      std::memcpy(static_cast<char*>(to.get()) + t * part,
                  static_cast<char*>(from.get()) + t * part, size_t(part));
  });
}

// FLOPs per second of a product of large matrices.
double product_rate(Cpu& cpu, DType t) {
  constexpr int64_t rows = 2048, size = 1024;
  const gemm::Buffer a(gemm::aligned(size_t(rows * size) * size_of(t))),
      b(gemm::aligned(size_t(size * size) * size_of(t))),
      c(gemm::aligned(size_t(rows * size) * size_of(t)));
  std::memset(a.get(), 0, size_t(rows * size) * size_of(t));
  std::memset(b.get(), 0, size_t(size * size) * size_of(t));
  Product p;
  p.a = matrix(a.get(), t, rows, size), p.b = matrix(b.get(), t, size, size);
  p.c = matrix(c.get(), t, rows, size);
  p.transpose_b = true;
  return best_rate(2.0 * double(rows) * size * size, [&] { cpu.product(p); });
}

// Bytes of the last-level cache; 0 if the system does not report it.
int64_t cache_bytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  return std::max<int64_t>(0, ::sysconf(_SC_LEVEL3_CACHE_SIZE));
#else
  return 0;
#endif
}

}  // namespace

void Cpu::start_profile() { profile_ = std::make_unique<Profile>(); }

std::string Cpu::profile_report() {
  const std::unique_ptr<Profile> times = std::move(profile_);
  if (!times) return "";
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - times->begin;
  Rates rates;
  rates.copy = copy_rate(int64_t(128) << 20, threads);
  rates.cache_bytes = double(cache_bytes());
  if (rates.cache_bytes > 0) rates.cached = copy_rate(threads * (int64_t(256) << 10), threads);
  rates.bf16 = product_rate(*this, DType::bf16);
  rates.f32 = product_rate(*this, DType::f32);
  char line[200];
  std::snprintf(line, sizeof line,
                "rates of this CPU, %d threads: copies %.0f GB/s in memory and %.0f in caches, "
                "products %.0f GFLOP/s in bf16, %.0f in fp32\n",
                threads, rates.copy * 1e-9, rates.cached * 1e-9, rates.bf16 * 1e-9,
                rates.f32 * 1e-9);
  return line + times->lines(rates, whole.count());
}

}  // namespace tx
