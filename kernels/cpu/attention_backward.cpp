#include "kernels/cpu.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/profile.h"
#include "lib/base/first_error.h"

namespace tx {
namespace {

template <class A>
struct Workspace {
  Panel<A> q, keys, keys_t, values_t, d_o, weights, d_weights, dq, dk, dv;
  std::vector<uint16_t> bits;
  A* distances = nullptr;  // (heads, buckets): of the sentence; null: without biases
};

// From scores x and dp = dO V^T of one row: x becomes the dropped weights (for dV), dp becomes the
// gradient of the scaled scores. Weights are recomputed from the kept log-sum-exp.
// Over whole registers, as in softmax_row(): `padded` is a multiple of 64 bytes.
template <class L, class A = typename L::Scalar>
TX_INLINE void row_gradient(A* x, A* dp, int64_t count, int64_t padded, A scale, A lse,
                            const uint16_t* bits, const Dropout& drop) {
  using V = typename L::Vector;
  const int64_t width = padded & -int64_t(L::count);
  with_mask<A>(drop, bits, [&](const auto& kept) TX_INLINE_LAMBDA {
    V sum{};
    for (int64_t j = 0; j < width; j += L::count) {
      const V score = first_lanes(load_lanes<V>(x + j), count - j, -A(INFINITY));
      const V weight = exponential(score * scale - lse);
      const V d = kept(j, first_lanes(load_lanes<V>(dp + j), count - j, A(0)));
      store_lanes(x + j, weight);
      store_lanes(dp + j, d);
      sum += weight * d;
    }
    const A dot = sum_lanes(sum);
    for (int64_t j = 0; j < width; j += L::count) {
      const V weight = load_lanes<V>(x + j), d = load_lanes<V>(dp + j);
      store_lanes(dp + j, weight * (d - dot) * scale);
      store_lanes(x + j, kept(j, weight));
    }
  });
}

// One block of queries: assigns dq, adds to the panels dk and dv.
template <class T, class L, class A>
TX_INLINE void block_gradient(const Attention& p, const HeadViews& h, int head, Matrix d_o,
                              Matrix dq, int64_t first, int64_t rows, Workspace<A>& w) {
  const auto [begin, end, width] = key_range<A>(p, first, rows, h.m);
  const int64_t keys = end - begin;
  load_panel<L, T>(h.q, h.q_first + first, rows, w.q);
  load_panel<L, T>(d_o, h.q_first + first, rows, w.d_o);
  w.weights.shape(query_block, h.m);
  w.d_weights.shape(query_block, h.m);
  small_product<L>({w.q.row(0), w.q.stride, 1, w.keys_t.row(0) + begin, w.keys_t.stride,
                    w.weights.row(0) + begin, w.weights.stride, rows, p.d_k, keys, false});
  small_product<L>({w.d_o.row(0), w.d_o.stride, 1, w.values_t.row(0) + begin, w.values_t.stride,
                    w.d_weights.row(0) + begin, w.d_weights.stride, rows, p.d_v, keys, false});
  const A* lse = reinterpret_cast<const A*>(p.lse) + (h.q_first + first) * p.heads + head;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t row = h.q_first + first + i, seen = visible_keys(p, first + i, h.m);
    if (h.drop.threshold) {
      w.bits.resize(size_t(padded<uint16_t>(width)));
      philox_row(philox_of(h.drop, row, begin), (keys + 7) / 8, w.bits.data());
    }
    bias_row(p, h, first + i, begin, seen, w.weights.row(i));
    row_gradient<L>(w.weights.row(i) + begin, w.d_weights.row(i) + begin, seen - begin, width,
                    A(p.scale), lse[i * p.heads], h.drop.threshold ? w.bits.data() : nullptr,
                    h.drop);
    for (int64_t j = begin; w.distances && j < seen; ++j)
      w.distances[head * p.distances.buckets + bucket_of(p.distances, first + i, j)] +=
          w.d_weights.row(i)[j] / A(p.scale);
  }
  w.dq.shape(query_block, p.d_k);
  small_product<L>({w.d_weights.row(0) + begin, w.d_weights.stride, 1, w.keys.row(begin),
                    w.keys.stride, w.dq.row(0), w.dq.stride, rows, keys, p.d_k, false});
  small_product<L>({w.d_weights.row(0) + begin, 1, w.d_weights.stride, w.q.row(0), w.q.stride,
                    w.dk.row(begin), w.dk.stride, keys, rows, p.d_k, true});
  small_product<L>({w.weights.row(0) + begin, 1, w.weights.stride, w.d_o.row(0), w.d_o.stride,
                    w.dv.row(begin), w.dv.stride, keys, rows, p.d_v, true});
  for (int64_t i = 0; i < rows; ++i)
    store_row<L>(w.dq.row(i), dq.row<T>(h.q_first + first + i), p.d_k);
}

template <class T>
TX_INLINE void prefetch_head(const Attention& p, const AttentionGradient& g, int64_t sentence,
                             int head) {
  const HeadViews h = head_views(p, sentence, head);
  prefetch_rows<T>(h.k, h.k_first, h.m);
  prefetch_rows<T>(h.v, h.k_first, h.m);
  prefetch_rows<T>(h.q, h.q_first, h.n);
  prefetch_rows<T>(g.d_o.columns(int64_t(head) * p.d_v, p.d_v), h.q_first, h.n);
}

// All query heads of one key/value head in one thread, so that dk and dv have one writer.
template <class T, class L, class A>
TX_INLINE void head_gradient(const Attention& p, const AttentionGradient& g, int64_t sentence,
                             int kv, Workspace<A>& w) {
  const int group = p.heads / p.kv_heads;
  HeadViews h = head_views(p, sentence, kv * group);
  if (kv == 0) prefetch_head<T>(p, g, sentence, 0);
  load_panel<L, T>(h.k, h.k_first, h.m, w.keys);
  load_transposed<T>(h.k, h.k_first, h.m, w.keys_t);
  load_transposed<T>(h.v, h.k_first, h.m, w.values_t);
  w.dk.shape(h.m, p.d_k);
  w.dv.shape(h.m, p.d_v);
  std::fill(w.dk.row(0), w.dk.row(h.m), A(0));
  std::fill(w.dv.row(0), w.dv.row(h.m), A(0));
  for (int head = kv * group; head < (kv + 1) * group; ++head) {
    h = head_views(p, sentence, head);
    const Matrix dq = g.dq.columns(int64_t(head) * p.d_k, p.d_k);
    const Matrix d_o = g.d_o.columns(int64_t(head) * p.d_v, p.d_v);
    if (head + 1 < p.heads) prefetch_head<T>(p, g, sentence, head + 1);
    for (int64_t first = 0; first < h.n; first += query_block) {
      const int64_t rows = std::min(query_block, h.n - first);
      if (h.m > 0)
        block_gradient<T, L>(p, h, head, d_o, dq, first, rows, w);
      else
        for (int64_t i = 0; i < rows; ++i)
          std::memset(dq.row<T>(h.q_first + first + i), 0, sizeof(T) * size_t(p.d_k));
    }
  }
  const Matrix dk = g.dk.columns(int64_t(kv) * p.d_k, p.d_k);
  const Matrix dv = g.dv.columns(int64_t(kv) * p.d_v, p.d_v);
  for (int64_t i = 0; i < h.m; ++i) {
    store_row<L>(w.dk.row(i), dk.row<T>(h.k_first + i), p.d_k);
    store_row<L>(w.dv.row(i), dv.row<T>(h.k_first + i), p.d_v);
  }
}

template <class T>
void attend_backward(const Attention& p, const AttentionGradient& g, int threads) {
  using A = acc_t<T>;
  FirstError failure;
  // One row for each sentence, so that the sum's order does not depend on the threads.
  const int64_t biases = g.d_distances.empty() ? 0 : int64_t(p.heads) * p.distances.buckets;
  std::vector<A> distances(size_t(p.sentences * biases), A(0));
#pragma omp parallel num_threads(threads)
  {
    Workspace<A> w;
#pragma omp for schedule(dynamic, 4)
    for (int64_t task = 0; task < p.sentences * p.kv_heads; ++task)
      failure.run([&] {
        const int64_t sentence = task / p.kv_heads;
        if (biases) w.distances = distances.data() + sentence * biases;
        with_lanes<A>([&](auto lanes) TX_INLINE_LAMBDA {
          using L = decltype(lanes);
          head_gradient<T, L>(p, g, sentence, int(task % p.kv_heads), w);
        });
      });
  }
  failure.rethrow();
  for (int64_t b = 0; b < biases; ++b) {
    A sum = g.add_distances ? g.d_distances.row<A>(0)[b] : A(0);
    for (int64_t sentence = 0; sentence < p.sentences; ++sentence)
      sum += distances[size_t(sentence * biases + b)];
    g.d_distances.row<A>(0)[b] = sum;
  }
}

}  // namespace

void Cpu::attention_backward(const Attention& p, const AttentionGradient& g) {
  const Timed timed(profile_.get(), "attention, backward",
                    traffic(p.q, p.k, p.v, p.o, g.d_o, g.dq, g.dk, g.dv));
  TX_ASSERT(p.heads % p.kv_heads == 0);
  with_type(p.q.dtype, [&](auto t) { attend_backward<decltype(t)>(p, g, threads); });
}

}  // namespace tx
