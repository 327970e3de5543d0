// Guided alignment of one head. For a row with scores s, weights a and targets g, where g_j is
// 1 / (number of the row's links) if key j is linked, else 0:
//   loss = - sum_j g_j log a_j = lse - scale sum_j g_j s_j,   d loss / d s_j = scale (a_j - g_j)
#include "kernels/cpu.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/profile.h"
#include "lib/base/first_error.h"

namespace tx {
namespace {

template <class A>
struct Workspace {
  Panel<A> q, keys, keys_t, scores, dq, dk;
};

struct GuideSums {
  double loss = 0;
  int64_t rows = 0;
};

// Overwrites the scores x of one row with (a - g) * factor, and the padding with zeros.
template <class A>
TX_INLINE void guide_row(A* x, int64_t count, int64_t padded, const Attention& p, A lse,
                         const AttentionGuide& guide, int64_t row, A factor, GuideSums& sums) {
  const int64_t width = padded & -int64_t(64 / sizeof(A));
  const int32_t *begin = guide.columns + guide.starts[row],
                *end = guide.columns + guide.starts[row + 1];
  if (begin == end) return std::fill(x, x + width, A(0));
  const double share = 1 / double(end - begin);
  sums.rows += 1;
  sums.loss += double(lse);
  for (const int32_t* j = begin; j < end; ++j) sums.loss -= share * p.scale * double(x[*j]);
  for (int64_t j = count; j < width; ++j) x[j] = -INFINITY;
  for (int64_t j = 0; j < width; ++j) x[j] = exponential(x[j] * A(p.scale) - lse);
  for (const int32_t* j = begin; j < end; ++j) x[*j] -= A(share);
  for (int64_t j = 0; j < width; ++j) x[j] *= factor;
}

// One block of queries: adds to dq and to the panel dk.
template <class T, class L, class A>
TX_INLINE void guide_block(const Attention& p, const HeadViews& h, const AttentionGuide& guide,
                           Matrix dq, int64_t first, int64_t rows, A factor, Workspace<A>& w,
                           GuideSums& sums) {
  const int64_t limit = visible_keys(p, first + rows - 1, h.m);
  load_panel<L, T>(h.q, h.q_first + first, rows, w.q);
  w.scores.shape(query_block, h.m);
  small_product<L>({w.q.row(0), w.q.stride, 1, w.keys_t.row(0), w.keys_t.stride, w.scores.row(0),
                    w.scores.stride, rows, p.d_k, limit, false});
  const A* lse = static_cast<const A*>(p.lse) + (h.q_first + first) * p.heads + guide.head;
  for (int64_t i = 0; i < rows; ++i)
    guide_row(w.scores.row(i), visible_keys(p, first + i, h.m), w.scores.stride, p,
              lse[i * p.heads], guide, h.q_first + first + i, factor, sums);
  w.dq.shape(query_block, p.d_k);
  small_product<L>({w.scores.row(0), w.scores.stride, 1, w.keys.row(0), w.keys.stride, w.dq.row(0),
                    w.dq.stride, rows, limit, p.d_k, false});
  small_product<L>({w.scores.row(0), 1, w.scores.stride, w.q.row(0), w.q.stride, w.dk.row(0),
                    w.dk.stride, limit, rows, p.d_k, true});
  for (int64_t i = 0; i < rows; ++i) {
    T* to = dq.row<T>(h.q_first + first + i);
    for (int64_t j = 0; j < p.d_k; ++j) store(to[j], load(to[j]) + w.dq.row(i)[j]);
  }
}

template <class T, class L, class A>
TX_INLINE GuideSums guide_sentence(const Attention& p, const AttentionGuide& guide,
                                   const AttentionGradient& g, int64_t sentence, Workspace<A>& w) {
  GuideSums sums;
  const HeadViews h = head_views(p, sentence, guide.head);
  if (guide.starts[h.q_first] == guide.starts[h.q_first + h.n]) return sums;
  load_panel<L, T>(h.k, h.k_first, h.m, w.keys);
  load_transposed<T>(h.k, h.k_first, h.m, w.keys_t);
  w.dk.shape(h.m, p.d_k);
  std::fill(w.dk.row(0), w.dk.row(h.m), A(0));
  const A factor = A(guide.weight * guide.record->loss_scale * p.scale);
  const Matrix dq = g.dq.columns(int64_t(guide.head) * p.d_k, p.d_k);
  for (int64_t first = 0; first < h.n; first += query_block)
    guide_block<T, L>(p, h, guide, dq, first, std::min(query_block, h.n - first), factor, w, sums);
  const int kv = int(int64_t(guide.head) * p.kv_heads / p.heads);
  const Matrix dk = g.dk.columns(int64_t(kv) * p.d_k, p.d_k);
  for (int64_t i = 0; i < h.m; ++i) {
    T* to = dk.row<T>(h.k_first + i);
    for (int64_t j = 0; j < p.d_k; ++j) store(to[j], load(to[j]) + w.dk.row(i)[j]);
  }
  return sums;
}

template <class T>
void guide_all(const Attention& p, const AttentionGuide& guide, const AttentionGradient& g,
               std::vector<GuideSums>& sums, int threads) {
  FirstError failure;
#pragma omp parallel num_threads(threads)
  {
    Workspace<acc_t<T>> w;
#pragma omp for schedule(dynamic, 4)
    for (int64_t sentence = 0; sentence < p.sentences; ++sentence)
      failure.run([&] {
        with_lanes<acc_t<T>>([&](auto lanes) TX_INLINE_LAMBDA {
          sums[size_t(sentence)] = guide_sentence<T, decltype(lanes)>(p, guide, g, sentence, w);
        });
      });
  }
  failure.rethrow();
}

}  // namespace

void Cpu::guide_attention(const Attention& p, const AttentionGuide& guide,
                          const AttentionGradient& g) {
  const Timed timed(profile_.get(), "attention, backward", traffic(p.q, p.k, g.dq, g.dk));
  std::vector<GuideSums> sums(size_t(p.sentences));
  with_type(p.q.dtype, [&](auto t) { guide_all<decltype(t)>(p, guide, g, sums, threads); });
  for (const GuideSums& sentence : sums) {  // in order: the same bits with any number of threads
    guide.record->guided += sentence.loss;
    guide.record->guided_rows += sentence.rows;
  }
}

}  // namespace tx
