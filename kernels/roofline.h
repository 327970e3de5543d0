// The roofline: the least time that work can take, be it for what it must move through memory or
// for the products it must compute, whichever takes longer. Free of CUDA and OpenMP.
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>

#include "kernels/product.h"

namespace tx {

// Of one call; what depends on data that the host does not know (how often an id occurs, the
// lengths of sentences) is left out, so that the bound is never too high.
struct Work {
  double bytes = 0, flops = 0;
  auto operator<=>(const Work&) const = default;
};

inline double bytes_of(const Matrix& m) {
  return m.empty() ? 0 : double(m.rows) * double(m.cols) * double(size_of(m.dtype));
}
// Each matrix counts once: pass a matrix that is both read and written twice.
template <class... M>
Work traffic(const M&... matrices) {
  return {(bytes_of(matrices) + ...), 0};
}
inline Work product_work(const Product& p) {
  const ProductShape s = shape_of(p);
  const Work moved = traffic(p.a, p.b, p.bias, p.c, p.accumulate ? p.c : Matrix());
  return {moved.bytes, 2.0 * double(s.m) * double(s.n) * double(s.k)};
}

// What the machine reaches, in bytes read and written and in FLOPs per second.
struct Rates {
  double copy = 1;    // in memory
  double cached = 0;  // of calls that move at most cache_bytes; with 0 there is no cache
  double cache_bytes = 0;
  double bf16 = 1, f32 = 1;  // products
};

// Seconds that the calls take one after another; products at `product_rate`.
inline double min_seconds(const std::map<Work, int64_t>& calls, const Rates& rates,
                          double product_rate) {
  double sum = 0;
  for (const auto& [work, count] : calls) {
    const bool fits = work.bytes <= rates.cache_bytes;
    const double copy = fits ? std::max(rates.cached, rates.copy) : rates.copy;
    sum += double(count) * std::max(work.bytes / copy, work.flops / product_rate);
  }
  return sum;
}

}  // namespace tx
