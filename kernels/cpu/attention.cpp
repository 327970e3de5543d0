#include "kernels/cpu/attention.h"

#include "kernels/cpu.h"
#include "kernels/cpu/profile.h"
#include "kernels/cpu/softmax.h"
#include "lib/base/first_error.h"

namespace tx {
namespace {

template <class A>
struct Workspace {
  Panel<A> q, keys, values, weights, out;
};

// Writes the weights of queries first .. first + rows - 1, for the keys of `range`, to w.weights.
template <class T, class L, class A>
TX_INLINE void block_weights(const Attention& p, const HeadViews& h, int64_t first, int64_t rows,
                             KeyRange range, Workspace<A>& w, A* lse, int64_t lse_stride) {
  load_panel<L, T>(h.q, h.q_first + first, rows, w.q);
  w.weights.shape(query_block, h.m);
  small_product<L>({w.q.row(0), w.q.stride, 1, w.keys.row(0) + range.begin, w.keys.stride,
                    w.weights.row(0) + range.begin, w.weights.stride, rows, h.q.cols,
                    range.end - range.begin, false});
  // Logarithms after all rows: a function call within the loop would spill the registers.
  RowSum<A> sums[query_block];
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t end = visible_keys(p, first + i, h.m);
    bias_row(p, h, first + i, range.begin, end, w.weights.row(i));
    sums[i] =
        softmax_row<L>(w.weights.row(i) + range.begin, end - range.begin, range.width, A(p.scale));
  }
  for (int64_t i = 0; lse && i < rows; ++i) lse[i * lse_stride] = sums[i].log();
}

template <class T>
TX_CLONES void drop_weights(const Dropout& drop, int64_t row, KeyRange range, acc_t<T>* x,
                            std::vector<uint16_t>& bits) {
  const int64_t count = range.end - range.begin;
  bits.resize(size_t(padded<uint16_t>(count)));
  philox_row(philox_of(drop, row, range.begin), (count + 7) / 8, bits.data());
  const DropRow<acc_t<T>> dropped(drop, bits.data());
  for (int64_t j = 0; j < count; ++j) x[j] = dropped(j, x[j]);
}

template <class T>
TX_INLINE void prefetch_head(const HeadViews& h) {
  prefetch_rows<T>(h.k, h.k_first, h.m);
  prefetch_rows<T>(h.q, h.q_first, h.n);
  prefetch_rows<T>(h.v, h.k_first, h.m);
}

template <class T, class L, class A>
TX_INLINE void attend_head(const Attention& p, int64_t sentence, int head, Workspace<A>& w,
                           std::vector<uint16_t>& bits) {
  const HeadViews h = head_views(p, sentence, head);
  const Matrix o = p.o.columns(int64_t(head) * p.d_v, p.d_v);
  A* all_lse = reinterpret_cast<A*>(p.lse);
  if (h.m == 0) {  // no keys: zeros
    for (int64_t i = h.q_first; i < h.q_first + h.n; ++i) {
      std::memset(o.row<T>(i), 0, sizeof(T) * size_t(p.d_v));
      if (all_lse) all_lse[i * p.heads + head] = -INFINITY;
    }
    return;
  }
  if (head == 0) prefetch_head<T>(h);
  if (head + 1 < p.heads) prefetch_head<T>(head_views(p, sentence, head + 1));
  load_transposed<T>(h.k, h.k_first, h.m, w.keys);
  load_panel<L, T>(h.v, h.k_first, h.m, w.values);
  for (int64_t first = 0; first < h.n; first += query_block) {
    const int64_t rows = std::min(query_block, h.n - first);
    A* lse = all_lse ? all_lse + (h.q_first + first) * p.heads + head : nullptr;
    const KeyRange range = key_range<A>(p, first, rows, h.m);
    block_weights<T, L>(p, h, first, rows, range, w, lse, p.heads);
    if (h.drop.threshold)
      for (int64_t i = 0; i < rows; ++i)
        drop_weights<T>(h.drop, h.q_first + first + i, range, w.weights.row(i) + range.begin, bits);
    w.out.shape(query_block, p.d_v);
    small_product<L>({w.weights.row(0) + range.begin, w.weights.stride, 1,
                      w.values.row(range.begin), w.values.stride, w.out.row(0), w.out.stride, rows,
                      range.end - range.begin, p.d_v, false});
    for (int64_t i = 0; i < rows; ++i)
      store_row<L>(w.out.row(i), o.row<T>(h.q_first + first + i), p.d_v);
  }
}

template <class T>
void attend(const Attention& p, int threads) {
  FirstError failure;
#pragma omp parallel num_threads(threads)
  {
    Workspace<acc_t<T>> w;
    std::vector<uint16_t> bits;
#pragma omp for schedule(dynamic, 4)
    for (int64_t task = 0; task < p.sentences * p.heads; ++task)
      failure.run([&] {
        with_lanes<acc_t<T>>([&](auto lanes) TX_INLINE_LAMBDA {
          using L = decltype(lanes);
          attend_head<T, L>(p, task / p.heads, int(task % p.heads), w, bits);
        });
      });
  }
  failure.rethrow();
}

template <class T, class L>
TX_INLINE void weights_of(const Attention& p, int64_t sentence, int head, Matrix weights) {
  using A = acc_t<T>;
  Workspace<A> w;
  const HeadViews h = head_views(p, sentence, head);
  if (h.m == 0) return;
  load_transposed<T>(h.k, h.k_first, h.m, w.keys);
  for (int64_t first = 0; first < h.n; first += query_block) {
    const int64_t rows = std::min(query_block, h.n - first);
    const KeyRange range = key_range<A>(p, first, rows, h.m);
    block_weights<T, L>(p, h, first, rows, range, w, static_cast<A*>(nullptr), 0);
    for (int64_t i = 0; i < rows; ++i) {
      float* row = weights.row<float>(first + i);
      std::fill(row, row + h.m, 0.0f);
      for (int64_t j = range.begin; j < range.end; ++j) row[j] = float(w.weights.row(i)[j]);
    }
  }
}

}  // namespace

void Cpu::attention(const Attention& p) {
  const Timed timed(profile_.get(), "attention", traffic(p.q, p.k, p.v, p.o));
  TX_ASSERT(p.heads % p.kv_heads == 0);
  with_type(p.q.dtype, [&](auto t) { attend<decltype(t)>(p, threads); });
}

void Cpu::attention_weights(const Attention& p, int64_t sentence, int head, Matrix weights) {
  with_type(p.q.dtype, [&](auto t) {
    using T = decltype(t);
    with_lanes<acc_t<T>>([&](auto lanes) TX_INLINE_LAMBDA {
      weights_of<T, decltype(lanes)>(p, sentence, head, weights);
    });
  });
}

}  // namespace tx
