// Products for inference, whose rows do not depend on how many there are: every element is summed
// over k in the same order by the same instructions, whatever the block of rows it falls into.
// OpenBLAS and oneDNN's gemm:jit choose the order by the number of rows.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

namespace tx::gemm {
namespace {

// Weights (O,I) as panels of micro->panel output columns, each [k][column], for bf16 [k /
// 2][column][2]; missing columns and the odd last k are zero. The panels follow this header.
struct alignas(64) Packed {
  const Micro* micro;
  int64_t panels;
  size_t panel_bytes;

  char* panel(int64_t i) { return reinterpret_cast<char*>(this + 1) + size_t(i) * panel_bytes; }
  const char* panel(int64_t i) const {
    return reinterpret_cast<const char*>(this + 1) + size_t(i) * panel_bytes;
  }
};

// One panel from rows first .. of w; `group` consecutive k lie side by side.
template <class T>
void fill_panel(const Matrix& w, int64_t first, int64_t width, int64_t group, T* to) {
  const int64_t rows = std::min(width, w.rows - first);
  for (int64_t r = 0; r < rows; r++) {
    const T* from = w.row<const T>(first + r);
    for (int64_t k = 0; k < w.cols; k++) {
      to[(k / group * width + r) * group + k % group] = from[k];
    }
  }
}

// A finished tile goes to y: + bias, activation, conversion.
template <class A, class T>
TX_CLONES void finish(const A* tile, int64_t panel, int64_t rows, int64_t columns, const A* bias,
                      bool relu, T* y, int64_t stride) {
  const A least = relu ? A(0) : -std::numeric_limits<A>::infinity();
  for (int64_t i = 0; i < rows; i++) {
    const A* from = tile + i * panel;
    T* to = y + i * stride;
    if (bias) {
      for (int64_t j = 0; j < columns; j++) {
        const A sum = from[j] + bias[j];
        store(to[j], sum < least ? least : sum);
      }
    } else {
      for (int64_t j = 0; j < columns; j++) store(to[j], from[j] < least ? least : from[j]);
    }
  }
}

struct Work {
  Matrix x, bias, y;
  bool relu;
  const Packed* w;
};

// Rows first .. first + count - 1 of y times one panel.
template <class A, class T>
void panel_product(const Work& p, int64_t panel, int64_t first, int64_t count) {
  alignas(64) A tile[kMaxRows * kMaxPanel];
  const Micro& micro = *p.w->micro;
  const int64_t column = panel * micro.panel;
  const int64_t columns = std::min<int64_t>(micro.panel, p.y.cols - column);
  const A* bias = p.bias.empty() ? nullptr : static_cast<const A*>(p.bias.data) + column;
  for (int64_t done = 0; done < count;) {
    const int64_t rows = std::min<int64_t>(count - done, micro.rows);
    const Matrix x = p.x.slice(first + done, rows);
    micro.block[rows - 1](x.data, x.stride, p.w->panel(panel), x.cols, tile);
    finish(tile, micro.panel, rows, columns, bias, p.relu, p.y.row<T>(first + done) + column,
           p.y.stride);
    done += rows;
  }
}

// A chunk of rows stays in the second-level cache while the panels pass over it.
template <class A, class T>
void all_panels(const Work& p, int threads) {
  const int64_t chunk_rows = 8 * p.w->micro->rows;
  const int64_t chunks = (p.y.rows + chunk_rows - 1) / chunk_rows;
  const int64_t items = chunks * p.w->panels;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1 && items > 1)
  for (int64_t i = 0; i < items; i++) {
    const int64_t first = i / p.w->panels * chunk_rows;
    panel_product<A, T>(p, i % p.w->panels, first, std::min(chunk_rows, p.y.rows - first));
  }
}

}  // namespace

const Micro& micro(DType dtype, Isa isa) {
  static const Micro plain[3] = {micro_plain(DType::f32), micro_plain(DType::bf16),
                                 micro_plain(DType::f64)};
  static const Micro avx2[2] = {micro_avx2(DType::f32), micro_avx2(DType::bf16)};
  static const Micro avx512 = micro_avx512(DType::f32), avx512_bf16 = micro_avx512_bf16();
  const bool half = dtype == DType::bf16;
  if (half && isa >= Isa::avx512_bf16 && avx512_bf16.rows) return avx512_bf16;
  if (dtype == DType::f32 && isa >= Isa::avx512 && avx512.rows) return avx512;
  if (dtype != DType::f64 && isa >= Isa::avx2 && avx2[half].rows) return avx2[half];
  TX_ASSERT(dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f64);
  return plain[int(dtype)];
}

Matrix pack(Matrix weights, Isa isa) {
  const Micro& m = micro(weights.dtype, isa);
  TX_ASSERT(weights.rows > 0 && weights.cols > 0 && !weights.prepared);
  const int64_t panels = (weights.rows + m.panel - 1) / m.panel;
  const int64_t group = weights.dtype == DType::bf16 ? 2 : 1;
  const int64_t depth = (weights.cols + group - 1) / group * group;
  const size_t panel_bytes = size_t(depth * m.panel) * size_of(weights.dtype);
  Packed* packed =
      new (aligned(sizeof(Packed) + size_t(panels) * panel_bytes)) Packed{&m, panels, panel_bytes};
  std::memset(packed->panel(0), 0, size_t(panels) * panel_bytes);
  with_type(weights.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < panels; i++) {
      fill_panel(weights, i * m.panel, m.panel, group, reinterpret_cast<T*>(packed->panel(i)));
    }
  });
  weights.prepared = packed;
  return weights;
}

void release_packed(Matrix& weights) {
  std::free(const_cast<void*>(weights.prepared));
  weights.prepared = nullptr;
}

void packed_product(Matrix x, Matrix packed, Matrix bias, Activation activation, Matrix y,
                    int threads) {
  TX_ASSERT(packed.prepared && x.dtype == packed.dtype && x.cols == packed.cols);
  TX_ASSERT(y.rows == x.rows && y.cols == packed.rows && x.cols <= x.stride && y.cols <= y.stride);
  TX_ASSERT(activation == Activation::none || activation == Activation::relu);
  const bool f64 = x.dtype == DType::f64;
  TX_ASSERT(f64 == (y.dtype == DType::f64));
  TX_ASSERT(bias.empty() || (bias.cols == y.cols && bias.dtype == (f64 ? DType::f64 : DType::f32)));
  const Work work{x, bias, y, activation == Activation::relu,
                  static_cast<const Packed*>(packed.prepared)};
  if (f64) return all_panels<double, double>(work, threads);
  if (y.dtype == DType::f32) return all_panels<float, float>(work, threads);
  TX_ASSERT(y.dtype == DType::bf16);
  all_panels<float, bf16>(work, threads);
}

}  // namespace tx::gemm
