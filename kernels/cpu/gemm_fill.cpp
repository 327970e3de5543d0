// Packing of matrices into panels: what the innermost loops read one vector after the other.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

namespace tx::gemm {
namespace {

// Rows first .. of w; Unit is one k, or the two of a bf16 pair. 16 units of a row fill one cache
// line while the 16 lines they go to stay in the first-level cache.
template <class Unit>
void fill_rows(const Matrix& w, int64_t first, int64_t width, int64_t units, Unit* to) {
  const int64_t rows = std::min(width, w.rows - first);
  const int64_t row_bytes = w.stride * int64_t(size_of(w.dtype));
  const char* from = static_cast<const char*>(w.data) + first * row_bytes;
  for (int64_t u = 0; u < units; u += 16) {
    const int64_t count = std::min<int64_t>(16, units - u);
    for (int64_t r = 0; r < rows; r++) {
      const char* source = from + r * row_bytes + u * int64_t(sizeof(Unit));
      Unit* target = to + u * width + r;
      for (int64_t i = 0; i < count; i++) {
        std::memcpy(target + i * width, source + i * int64_t(sizeof(Unit)), sizeof(Unit));
      }
    }
  }
  for (int64_t u = 0; rows < width && u < units; u++) {
    std::fill(to + u * width + rows, to + (u + 1) * width, Unit(0));
  }
}

// The last of an odd number of k of bf16 rows.
void fill_last(const Matrix& w, int64_t first, int64_t width, uint32_t* to) {
  const int64_t rows = std::min(width, w.rows - first);
  for (int64_t r = 0; r < width; r++) {
    to[r] = r < rows ? w.row<const bf16>(first + r)[w.cols - 1].bits : 0;
  }
}

template <class T>
void fill_columns(const Matrix& w, int64_t first, int64_t width, T* to) {
  const int64_t columns = std::min(width, w.cols - first);
  for (int64_t k = 0; k < w.rows; k++, to += width) {
    std::memcpy(to, w.row<const T>(k) + first, size_t(columns) * sizeof(T));
    std::fill(to + columns, to + width, T(0));
  }
}

TX_CLONES void interleave(const uint16_t* even, const uint16_t* odd, int64_t count, uint32_t* to) {
  for (int64_t j = 0; j < count; j++) to[j] = uint32_t(even[j]) | uint32_t(odd[j]) << 16;
}

void fill_column_pairs(const Matrix& w, int64_t first, int64_t width, uint32_t* to) {
  const int64_t columns = std::min(width, w.cols - first);
  for (int64_t k = 0; k < w.rows; k += 2, to += width) {
    const uint16_t* even = w.row<const uint16_t>(k) + first;
    if (k + 1 < w.rows) {
      interleave(even, even + w.stride, columns, to);
    } else {
      std::copy(even, even + columns, to);
    }
    std::fill(to + columns, to + width, 0u);
  }
}

}  // namespace

size_t panel_bytes(DType dtype, int64_t width, int64_t k) {
  return size_t(width * (dtype == DType::bf16 ? (k + 1) / 2 * 2 : k)) * size_of(dtype);
}

void fill_panel(const Matrix& w, bool transposed, int64_t first, int64_t width, void* to) {
  if (w.dtype == DType::bf16) {
    uint32_t* pairs = static_cast<uint32_t*>(to);
    if (transposed) return fill_column_pairs(w, first, width, pairs);
    fill_rows(w, first, width, w.cols / 2, pairs);
    if (w.cols % 2) fill_last(w, first, width, pairs + w.cols / 2 * width);
  } else if (w.dtype == DType::f64) {
    if (transposed) return fill_columns(w, first, width, static_cast<double*>(to));
    fill_rows(w, first, width, w.cols, static_cast<uint64_t*>(to));
  } else {
    if (transposed) return fill_columns(w, first, width, static_cast<float*>(to));
    fill_rows(w, first, width, w.cols, static_cast<uint32_t*>(to));
  }
}

Panels panels_of(const Matrix& w, bool transposed, const Micro& micro) {
  const int64_t rows = transposed ? w.cols : w.rows, k = transposed ? w.rows : w.cols;
  return {&micro, nullptr, (rows + micro.panel - 1) / micro.panel,
          panel_bytes(w.dtype, micro.panel, k)};
}

void fill_panels(const Matrix& w, bool transposed, const Panels& p, char* data, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1 && p.count > 1)
  for (int64_t i = 0; i < p.count; i++) {
    fill_panel(w, transposed, i * p.micro->panel, p.micro->panel, data + size_t(i) * p.bytes);
  }
}

}  // namespace tx::gemm
