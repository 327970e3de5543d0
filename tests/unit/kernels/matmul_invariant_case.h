// What the tests of matmul_invariant share: the naive product, the types.
#pragma once
#include "kernels/int8.h"
#include "tests/unit/kernels/gemm_support.h"

namespace tx_test {

inline int64_t wrong(const tx::Matrix& x, const tx::Matrix& w, const tx::Matrix& bias, bool relu,
                     const tx::Matrix& y) {
  const std::vector<double> left = values(x), right = values(w);
  const std::vector<double> out = values(y), start = values(bias);
  int64_t count = 0;
  for (int64_t i = 0; i < y.rows; i++) {
    for (int64_t o = 0; o < y.cols; o++) {
      double sum = bias.empty() ? 0 : start[size_t(o)], magnitude = std::abs(sum);
      for (int64_t k = 0; k < x.cols; k++) {
        const double term = left[size_t(i * x.cols + k)] * right[size_t(o * x.cols + k)];
        sum += term, magnitude += std::abs(term);
      }
      if (relu) sum = std::max(sum, 0.0);
      const double error = std::abs(out[size_t(i * y.cols + o)] - sum);
      count += !(error <= tolerance(x.dtype, y.dtype, magnitude, sum));
    }
  }
  return count;
}

// The values of m as a host gives them; m must outlive it.
inline tx::WeightRows rows_of(const tx::Matrix& m) {
  return {m.rows, m.cols, [m](int64_t first, int64_t count, float* to) {
            for (int64_t i = 0; i < count * m.cols; i++)
              to[i] = float(get(m, first + i / m.cols, i % m.cols));
          }};
}

struct Types {
  tx::DType in, out;
};
const Types kTypes[] = {{tx::DType::f32, tx::DType::f32},
                        {tx::DType::f32, tx::DType::bf16},
                        {tx::DType::bf16, tx::DType::f32},
                        {tx::DType::bf16, tx::DType::bf16},
                        {tx::DType::f64, tx::DType::f64}};

inline tx::DType bias_type(tx::DType in) {
  return in == tx::DType::f64 ? tx::DType::f64 : tx::DType::f32;
}

inline bool same_bits(const tx::Matrix& a, const tx::Matrix& b) {
  for (int64_t i = 0; i < a.rows; i++) {
    if (std::memcmp(a.row<char>(0) + size_t(i * a.stride) * size_of(a.dtype),
                    b.row<char>(0) + size_t(i * b.stride) * size_of(b.dtype),
                    size_t(a.cols) * size_of(a.dtype)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace tx_test
