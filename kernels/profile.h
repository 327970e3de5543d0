// The profile of a backend (tx-train --profile): kernel calls by group, with the bytes that they
// move and the FLOPs that they compute, and the roofline: the minimum time of that work, limited by
// memory bandwidth or by the rate of products. Backends measure the time.
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "kernels/view.h"

namespace tx {

// The work of one call, without what depends on data unknown to the host: a lower bound.
struct Work {
  double bytes = 0, flops = 0;
  auto operator<=>(const Work&) const = default;
};

inline double bytes_of(const Matrix& m) {
  return m.empty() ? 0 : double(m.rows) * double(m.cols) * double(size_of(m.dtype));
}
// Each matrix counts once: pass a matrix twice if it is read and written.
template <class... M>
Work traffic(const M&... matrices) {
  return {(bytes_of(matrices) + ...), 0};
}
inline Work product_work(const Product& p) {
  const ProductShape s = shape_of(p);
  const Work moved = traffic(p.a, p.b, p.bias, p.c, p.accumulate ? p.c : Matrix());
  return {moved.bytes, 2.0 * double(s.m) * double(s.n) * double(s.k)};
}

// Measured rates of the machine: bytes read and written per second, FLOPs per second.
struct Rates {
  double copy = 1;    // in memory
  double cached = 0;  // for calls that move at most cache_bytes; 0: no cache
  double cache_bytes = 0;
  double bf16 = 1, f32 = 1;  // products
};

// Minimum seconds of the calls in sequence; products at `product_rate`.
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

class GroupTimes {
 public:
  // Names of groups are the same on all backends; "fp32" in a name selects that rate.
  void count(const std::string& group, Work work) { ++groups_[group].calls[work]; }
  void add(const std::string& group, double seconds) { groups_[group].seconds += seconds; }
  double seconds() const;  // of all groups
  // One line per group, by descending time: calls, milliseconds, the roofline minimum, and its
  // ratio to the time. With `whole` seconds also the time outside all groups, and the total.
  std::string lines(const Rates& rates, double whole = 0) const;

 private:
  struct Group {
    std::map<Work, int64_t> calls;
    double seconds = 0;
  };
  std::map<std::string, Group> groups_;
};

}  // namespace tx
