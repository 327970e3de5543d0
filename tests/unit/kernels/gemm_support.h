// Matrices for the tests of products: any dtype, gaps between rows, guard elements after them.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/simd.h"
#include "kernels/view.h"

namespace tx_test {

inline double get(const tx::Matrix& m, int64_t i, int64_t j) {
  double x = 0;
  tx::with_type(m.dtype, [&](auto zero) { x = double(tx::load(m.row<decltype(zero)>(i)[j])); });
  return x;
}

inline void set(const tx::Matrix& m, int64_t i, int64_t j, double x) {
  tx::with_type(m.dtype, [&](auto zero) {
    using T = decltype(zero);
    tx::store(m.row<T>(i)[j], static_cast<tx::acc_t<T>>(x));
  });
}

// All values, row after row.
inline std::vector<double> values(const tx::Matrix& m) {
  std::vector<double> all(size_t(m.rows * m.cols));
  if (m.empty()) return all;
  tx::with_type(m.dtype, [&](auto zero) {
    for (int64_t i = 0; i < m.rows; i++) {
      for (int64_t j = 0; j < m.cols; j++) {
        all[size_t(i * m.cols + j)] = double(tx::load(m.row<decltype(zero)>(i)[j]));
      }
    }
  });
  return all;
}

// rows x cols values inside a larger block of NaN, `gap` elements after every row, `shift` before
// the first (to vary the alignment).
class Block {
 public:
  Block(tx::DType dtype, int64_t rows, int64_t cols, int64_t gap = 0, int64_t shift = 0)
      : bytes_(size_t((rows + 2) * (cols + gap) + shift + 64) * size_of(dtype), char(0xff)),
        shift_(shift) {
    view_ = tx::matrix(bytes_.data() + size_t(shift) * size_of(dtype), dtype, rows, cols);
    view_.stride = cols + gap;
  }

  const tx::Matrix& view() const { return view_; }
  // Uniform in [-1, 1], the same for the same seed.
  Block& randomise(unsigned seed) {
    std::mt19937 random(seed);
    for (int64_t i = 0; i < view_.rows; i++) {
      for (int64_t j = 0; j < view_.cols; j++)
        set(view_, i, j, double(random()) / 2147483648.0 - 1);
    }
    return *this;
  }
  Block& fill(double x) {
    for (int64_t i = 0; i < view_.rows; i++) {
      for (int64_t j = 0; j < view_.cols; j++) set(view_, i, j, x);
    }
    return *this;
  }
  // Whether every byte outside the matrix is unchanged.
  bool intact() const {
    const size_t e = size_of(view_.dtype), row = size_t(view_.stride) * e;
    for (size_t i = 0; i < bytes_.size(); i++) {
      const size_t start = size_t(shift_) * e;
      const bool inside = i >= start && (i - start) / row < size_t(view_.rows) &&
                          (i - start) % row < size_t(view_.cols) * e;
      if (!inside && bytes_[i] != char(0xff)) return false;
    }
    return true;
  }
  const std::vector<char>& bytes() const { return bytes_; }
  std::vector<char>& bytes() { return bytes_; }

 private:
  std::vector<char> bytes_;
  int64_t shift_;
  tx::Matrix view_;
};

// How far a sum may be off: relative to the sum of magnitudes, and the rounding of the output.
inline double tolerance(tx::DType in, tx::DType out, double magnitude, double value) {
  const double sum = in == tx::DType::f64 ? 1e-14 : 2e-6;
  return sum * magnitude + (out == tx::DType::bf16 ? std::abs(value) / 256 : 0);
}

}  // namespace tx_test
