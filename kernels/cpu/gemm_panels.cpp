// The outer loops of our own products. Every element is summed over k in the same order by the same
// instructions, whatever the block of rows it falls into and whichever thread computes it; OpenBLAS
// and oneDNN's gemm:jit choose the order by the number of rows.
#include <algorithm>
#include <limits>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/thread_rows.h"

namespace tx::gemm {
namespace {

// Rows that share a panel while it is in the second-level cache, and k at a time: 64 columns x 512
// bf16 are 64 KB of weights, 96 rows x 512 as much, the sums 24 KB.
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

// How the rows of y are cut. Few rows: one chunk, and the threads share the panels. Else chunks of
// about equal size, as many for each thread.
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

// Rows first .. first + count - 1 of y times one panel; left is their first row. A block is
// finished while its sums are in the first-level cache: with one step of k they never leave it.
template <class A, class T>
void chunk_by_panel(const PanelProduct& p, Left left, int64_t first, int64_t count, int64_t panel) {
  alignas(64) A sums[kChunk * kMaxPanel];
  const Micro& m = *p.w.micro;
  const int64_t k = inner(p), group = p.x.dtype == DType::bf16 ? 2 : 1;
  const char* weights = p.w.data + size_t(panel) * p.w.bytes;
  for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, k - k0);
    const char* right = weights + k0 * m.panel * int64_t(size_of(p.x.dtype));
    for (int64_t done = 0, blocks = (count + m.rows - 1) / m.rows; blocks > 0; blocks--) {
      const int64_t rows = (count - done + blocks - 1) / blocks;
      A* const tile = k <= kDepth ? sums : sums + done * m.panel;
      const char* from = left.data + done * left.row_step + k0 / group * left.k_step;
      const Left part{from, left.row_step, left.k_step};
      if (m.tiles) {
        m.tiles(part, rows, right, depth, reinterpret_cast<float*>(tile), k0 > 0);
      } else {
        m.block[rows - 1](part, right, depth, tile, k0 > 0);
      }
      if (k0 + depth == k) finish_block<A, T>(p, tile, first + done, rows, panel);
      done += rows;
    }
  }
}

// A chunk of rows stays in the second-level cache while the panels pass over it.
template <class A, class T>
void all(const PanelProduct& p, int threads) {
  const Cut c = cut(p, threads);
  const int64_t items = c.chunks * p.w.count, element = int64_t(size_of(p.x.dtype));
  const int64_t unit = p.x.dtype == DType::bf16 ? 2 * element : element;
#pragma omp parallel num_threads(threads) if (threads > 1 && items > 1)
  {
    char* packed = p.scratch + size_t(thread_number()) * panel_bytes(p.x.dtype, c.rows, inner(p));
    int64_t held = -1;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < items; i++) {
      const int64_t chunk = i / p.w.count, first = chunk * c.rows;
      Left left{packed, unit, unit * c.rows};
      if (!p.transposed) {
        left = {reinterpret_cast<const char*>(p.x.data) + first * p.x.stride * element,
                p.x.stride * element, unit};
      } else if (chunk != held) {
        fill_panel(p.x, true, first, c.rows, packed);
        held = chunk;
      }
      chunk_by_panel<A, T>(p, left, first, std::min(c.rows, p.y.rows - first), i % p.w.count);
    }
  }
}

}  // namespace

size_t left_bytes(const PanelProduct& p, int threads) {
  if (!p.transposed) return 0;
  return size_t(threads) * panel_bytes(p.x.dtype, cut(p, threads).rows, inner(p));
}

void panel_product(const PanelProduct& p, int threads) {
  if (p.y.rows == 0) return;
  if (p.y.dtype == DType::f64) return all<double, double>(p, threads);
  if (p.y.dtype == DType::f32) return all<float, float>(p, threads);
  all<float, bf16>(p, threads);
}

}  // namespace tx::gemm
