// Our own products: packing into panels, which the innermost loops read sequentially, and the outer
// loops. Every element is summed over k in the same order by the same instructions, whatever its
// block of rows and its thread (with OpenBLAS and gemm:jit the number of rows decides).
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

namespace tx::gemm {

namespace {

// Rows first .. of w; Unit is one k, or the two of a bf16 pair: 16 of a row are one cache line.
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
      for (int64_t i = 0; i < count; i++)
        std::memcpy(target + i * width, source + i * int64_t(sizeof(Unit)), sizeof(Unit));
    }
  }
  for (int64_t u = 0; rows < width && u < units; u++)
    std::fill(to + u * width + rows, to + (u + 1) * width, Unit(0));
}

// The last of an odd number of k of bf16 rows.
void fill_last(const Matrix& w, int64_t first, int64_t width, uint32_t* to) {
  const int64_t rows = std::min(width, w.rows - first);
  for (int64_t r = 0; r < width; r++)
    to[r] = r < rows ? w.row<const bf16>(first + r)[w.cols - 1].bits : 0;
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
    if (k + 1 < w.rows)
      interleave(even, even + w.stride, columns, to);
    else
      std::copy(even, even + columns, to);
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
  for (int64_t i = 0; i < p.count; i++)
    fill_panel(w, transposed, i * p.micro->panel, p.micro->panel, data + size_t(i) * p.bytes);
}

namespace {

// Rows per chunk and k per pass, so that a panel stays in the L2 cache: 64 columns x 512 bf16 are
// 64 KB of weights, 96 rows x 512 are 96 KB, and the sums are 24 KB.
constexpr int64_t kChunk = 96, kDepth = 512;

template <class A, class T>
TX_CLONES void finish(const Finish<A>& f) {
  const A min = f.relu ? A(0) : -std::numeric_limits<A>::infinity();
  for (int64_t i = 0; i < f.rows; i++) {
    const A* from = f.sums + i * f.panel;
    const A* bias = f.bias;
    T* to = static_cast<T*>(f.y) + i * f.stride;
    if (f.add) {
      for (int64_t j = 0; j < f.columns; j++) store(to[j], load(to[j]) + from[j]);
    } else if (bias) {
      for (int64_t j = 0; j < f.columns; j++) {
        const A sum = from[j] + bias[j];
        store(to[j], sum < min ? min : sum);
      }
    } else {
      for (int64_t j = 0; j < f.columns; j++) store(to[j], from[j] < min ? min : from[j]);
    }
  }
}

// The chunks of the rows of y: one if they are few, else equal ones, a multiple of the threads.
struct Cut {
  int64_t rows, chunks;
};
Cut cut(const PanelProduct& p, int threads) {
  const int64_t n = p.y.rows, unit = p.w.micro->rows;
  if (n <= kChunk && !p.transposed) return {n, 1};
  int64_t chunks = (n + kChunk - 1) / kChunk;
  chunks = (chunks + threads - 1) / threads * threads;
  const int64_t rows = ((n + chunks - 1) / chunks + unit - 1) / unit * unit;
  return {rows, (n + rows - 1) / rows};
}

int64_t inner(const PanelProduct& p) { return p.transposed ? p.x.rows : p.x.cols; }

template <class A, class T>
void finish_block(const PanelProduct& p, const A* sums, int64_t first, int64_t rows,
                  int64_t panel) {
  const Micro& m = *p.w.micro;
  const int64_t column = panel * m.panel;
  const A* bias = p.bias.empty() ? nullptr : static_cast<const A*>(p.bias.data) + column;
  const Finish<A> f{sums,      m.panel, rows,  std::min<int64_t>(m.panel, p.y.cols - column),
                    bias,      p.relu,  p.add, p.y.row<T>(first) + column,
                    p.y.stride};
  if constexpr (std::is_same_v<T, bf16>) {
    if (m.finish_bf16) return m.finish_bf16(f);
  }
  finish<A, T>(f);
}

TX_CLONES void widen(const bf16* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; i++) to[i] = load(from[i]);
}

// Widens `pairs` pairs of k of a panel.
TX_CLONES void widen_panel(const uint32_t* from, int64_t pairs, int64_t width, uint32_t* to) {
  for (int64_t i = 0; i < pairs; i++, from += width, to += 2 * width) {
    for (int64_t j = 0; j < width; j++) to[j] = from[j] << 16;
    for (int64_t j = 0; j < width; j++) to[width + j] = from[j] & 0xffff0000u;
  }
}

// Rows first .. first + count - 1 of y times one panel; left is their first row. A block is
// finished while its sums are in the L1 cache, where they stay if k is one pass.
template <class A, class T>
void chunk_by_panel(const PanelProduct& p, Left left, int64_t first, int64_t count, int64_t panel,
                    uint32_t* wide) {
  alignas(64) A sums[kChunk * kMaxPanel];
  const Micro& m = *p.w.micro;
  const bool whole = m.widened() && count > 2 * m.rows;  // widen the panel once for all blocks
  const Block* const block = whole ? m.wide : m.block;
  const int64_t k = inner(p), group = p.x.dtype == DType::bf16 && !m.widened() ? 2 : 1;
  const char* weights = p.w.data + size_t(panel) * p.w.bytes;
  for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, k - k0);
    const void* right = weights + k0 * m.panel * int64_t(size_of(p.x.dtype));
    if (whole) {
      widen_panel(static_cast<const uint32_t*>(right), (depth + 1) / 2, m.panel, wide);
      right = wide;
    }
    for (int64_t done = 0, blocks = (count + m.rows - 1) / m.rows; blocks > 0; blocks--) {
      const int64_t rows = (count - done + blocks - 1) / blocks;
      A* const tile = k <= kDepth ? sums : sums + done * m.panel;
      const char* from = left.data + done * left.row_step + k0 / group * left.k_step;
      const Left part{from, left.row_step, left.k_step};
      if (m.tiles)
        m.tiles(part, rows, right, depth, reinterpret_cast<float*>(tile), k0 > 0);
      else
        block[rows - 1](part, right, depth, tile, k0 > 0);
      if (k0 + depth == k) finish_block<A, T>(p, tile, first + done, rows, panel);
      done += rows;
    }
  }
}

bool widens(const PanelProduct& p) { return p.w.micro->widened(); }

// Of the copy of `rows` rows that left_of() makes; of a widened part of a panel.
size_t chunk_bytes(const PanelProduct& p, int64_t rows) {
  if (widens(p)) return size_t((rows * inner(p) + 15) / 16 * 64);
  return panel_bytes(p.x.dtype, rows, inner(p));
}
size_t wide_bytes(const PanelProduct& p) {
  return widens(p) ? size_t(kDepth * p.w.micro->panel) * sizeof(float) : 0;
}

// Rows first .. first + rows - 1 of the left operand: in place, or copied to `to` if need be.
Left left_of(const PanelProduct& p, int64_t first, int64_t rows, char* to) {
  float* const wide = reinterpret_cast<float*>(to);
  const int64_t k = inner(p), count = std::min(rows, p.y.rows - first);
  if (widens(p) && p.transposed) {
    for (int64_t i = 0; i < k; i++) widen(p.x.row<const bf16>(i) + first, count, wide + i * rows);
    return {to, 4, 4 * rows};
  }
  if (widens(p)) {
    for (int64_t r = 0; r < count; r++) widen(p.x.row<const bf16>(first + r), k, wide + r * k);
    return {to, 4 * k, 4};
  }
  const int64_t element = int64_t(size_of(p.x.dtype));
  const int64_t unit = p.x.dtype == DType::bf16 ? 2 * element : element;
  if (!p.transposed) {
    const int64_t step = p.x.stride * element;
    return {static_cast<const char*>(p.x.data) + first * step, step, unit};
  }
  fill_panel(p.x, true, first, rows, to);
  return {to, unit, unit * rows};
}

// A chunk of rows stays in the L2 cache while all panels are multiplied with it.
template <class A, class T>
void all(const PanelProduct& p, int threads) {
  const Cut c = cut(p, threads);
  const int64_t items = c.chunks * p.w.count;
#pragma omp parallel num_threads(threads) if (threads > 1 && items > 1)
  {
    const size_t bytes = chunk_bytes(p, c.rows);
    char* copy = nullptr;
    if (p.scratch) copy = p.scratch + size_t(thread_number()) * (bytes + wide_bytes(p));
    auto* wide = copy ? reinterpret_cast<uint32_t*>(copy + bytes) : nullptr;
    int64_t held = -1;
    Left left{};
#pragma omp for schedule(static)
    for (int64_t i = 0; i < items; i++) {
      const int64_t chunk = i / p.w.count, first = chunk * c.rows;
      if (chunk != held) left = left_of(p, first, c.rows, copy);
      held = chunk;
      chunk_by_panel<A, T>(p, left, first, std::min(c.rows, p.y.rows - first), i % p.w.count, wide);
    }
  }
}

}  // namespace

size_t left_bytes(const PanelProduct& p, int threads) {
  if (!p.transposed && !widens(p)) return 0;
  return size_t(threads) * (chunk_bytes(p, cut(p, threads).rows) + wide_bytes(p));
}

void panel_product(const PanelProduct& p, int threads) {
  if (p.y.rows == 0) return;
  if (p.y.dtype == DType::f64) return all<double, double>(p, threads);
  if (p.y.dtype == DType::f32) return all<float, float>(p, threads);
  all<float, bf16>(p, threads);
}

}  // namespace tx::gemm
