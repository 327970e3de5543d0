// Matrices of doubles for naive loops, and what each dtype makes of a double, by definition.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "kernels/view.h"
#include "lib/base/philox.h"

namespace tx_test {

using tx::DType;

struct Dense {
  int64_t rows = 0, cols = 0;
  std::vector<double> data;

  Dense() = default;
  Dense(int64_t r, int64_t c, double value = 0) : rows(r), cols(c), data(size_t(r * c), value) {}
  Dense(std::initializer_list<std::initializer_list<double>> list)
      : rows(int64_t(list.size())), cols(int64_t(list.begin()->size())) {
    for (const auto& row : list) data.insert(data.end(), row);
  }
  double& operator()(int64_t i, int64_t j) { return data[size_t(i * cols + j)]; }
  double operator()(int64_t i, int64_t j) const { return data[size_t(i * cols + j)]; }
  Dense slice(int64_t first, int64_t count) const {
    Dense part(count, cols);
    std::copy_n(data.begin() + first * cols, count * cols, part.data.begin());
    return part;
  }
};

// x to the nearest number of `digits` significant bits, ties to even, as IEEE 754 does with the
// exponents of float: gradual underflow, infinity from 2^128 on.
inline double round_binary(double x, int digits) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent;
  std::frexp(x, &exponent);
  const int unit = std::max(exponent, -125) - digits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  return std::abs(rounded) < 0x1p128 ? rounded : std::copysign(INFINITY, x);
}

inline double round_to(DType t, double x) {
  return t == DType::f64 ? x : round_binary(x, t == DType::bf16 ? 8 : 24);
}

inline Dense round_to(DType t, Dense x) {
  for (double& value : x.data) value = round_to(t, value);
  return x;
}

// The type of sums, statistics and parameters for activations of type t.
inline DType sum_type(DType t) { return t == DType::f64 ? DType::f64 : DType::f32; }

// Writes a value in type t, rounded if t cannot hold it exactly.
inline void encode(DType t, double value, char* to) {
  if (t == DType::f64) {
    std::memcpy(to, &value, 8);
    return;
  }
  const float single = float(round_to(t, value));
  std::memcpy(to, reinterpret_cast<const char*>(&single) + 4 - tx::size_of(t), tx::size_of(t));
}

inline double decode(DType t, const char* from) {
  if (t == DType::f64) {
    double value;
    std::memcpy(&value, from, 8);
    return value;
  }
  float single = 0;
  std::memcpy(reinterpret_cast<char*>(&single) + 4 - tx::size_of(t), from, tx::size_of(t));
  return single;
}

// Uniform values in [low, high) that t holds exactly.
inline Dense random_dense(int64_t rows, int64_t cols, DType t, uint32_t seed, double low = -1,
                          double high = 1) {
  tx::PhiloxStream stream(seed, 1);
  Dense x(rows, cols);
  for (double& value : x.data) value = round_to(t, low + (high - low) * stream.uniform());
  return x;
}

// Values in [0, count).
inline std::vector<int32_t> random_ids(int64_t size, int64_t count, uint32_t seed) {
  tx::PhiloxStream stream(seed, 2);
  std::vector<int32_t> ids(static_cast<size_t>(size));
  for (int32_t& id : ids) id = int32_t(stream.next() % uint64_t(count));
  return ids;
}

template <class T>
std::vector<T> part_of(const std::vector<T>& values, int64_t first, int64_t count) {
  return std::vector<T>(values.begin() + first, values.begin() + first + count);
}

// Dropout by its scalar definition (view.h): the factor of each element, 0 or `scale`.
struct Drop {
  double p = 0;
  uint32_t seed = 1234, site = 77;
  int64_t step = 9, first = 0;
  std::vector<uint32_t> pair, position;

  uint32_t threshold() const { return uint32_t(std::lround(p * 65536)); }
  double factor(int64_t row, int64_t feature, int head = 0) const {
    if (threshold() == 0) return 1;
    feature += first;
    const tx::Philox::Block block =
        tx::Philox::block(seed, site + (uint32_t(head) << 16), uint32_t(step), pair[size_t(row)],
                          position[size_t(row)], uint32_t(feature / 8));
    const int element = int(feature % 8);
    const uint32_t word = block.word[element / 2];
    const uint32_t bits = element % 2 ? word >> 16 : word & 0xffffu;
    return bits < threshold() ? 0 : 65536.0 / (65536.0 - threshold());
  }
  // The same for rows first .. first + count - 1 only.
  Drop slice(int64_t first, int64_t count) const {
    Drop part = *this;
    part.pair = part_of(pair, first, count);
    part.position = part_of(position, first, count);
    return part;
  }
};

// Rows of unrelated pairs and positions below `longest`.
inline Drop random_drop(double p, int64_t rows, uint32_t longest = 130) {
  Drop drop;
  drop.p = p;
  tx::PhiloxStream stream(99, 3);
  for (int64_t i = 0; i < rows; ++i) {
    drop.pair.push_back(stream.next());
    drop.position.push_back(stream.next() % longest);
  }
  return drop;
}

}  // namespace tx_test
