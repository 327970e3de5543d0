// Attention of packed sentences by its formula (tx-paper(7), 3.2), with its gradient; operands of
// every kind for the kernels and for the loops.
#pragma once
#include "tests/unit/kernels/checker.h"

namespace tx_test {

// Packed sentences: lengths of both sides, heads, masks and dropout.
struct Packed {
  std::vector<int64_t> queries, keys;
  int heads = 1, kv_heads = 1, d_k = 8, d_v = 8;
  bool causal = false;
  double scale = 0, p = 0;
  int window = 0;
  bool sloped = false;
  int buckets = 0;  // of distances up to `reach`; 0: no biases by distance
  static constexpr int reach = 11;
};

// values (1, heads * buckets) in the memory of a run, with the buckets of `shape`.
template <class Shape>
tx::DistanceBias distance_bias(Run& run, const Shape& shape, const Dense& values, DType t) {
  std::vector<int32_t> bucket;
  for (int d = -shape.reach; d <= shape.reach; ++d) bucket.push_back(shape.bucket(0, d));
  return {run.input(values, sum_type(t)).data, run.array(bucket), shape.buckets, shape.reach};
}

struct Scene : Packed {
  DType t;
  std::vector<int32_t> q_offsets{0}, k_offsets{0};
  Dense q, k, v, d_o;
  std::vector<double> slopes;
  Dense biases;  // (1, heads * buckets)
  Drop drop;

  Scene(const Packed& shape, DType type, double size = 1) : Packed(shape), t(type) {
    for (const int64_t n : queries) q_offsets.push_back(q_offsets.back() + int32_t(n));
    for (const int64_t m : keys) k_offsets.push_back(k_offsets.back() + int32_t(m));
    const int64_t rows = q_offsets.back(), columns = k_offsets.back();
    q = random_dense(rows, heads * d_k, t, 1, -size, size);
    k = random_dense(columns, kv_heads * d_k, t, 2, -size, size);
    v = random_dense(columns, kv_heads * d_v, t, 3);
    d_o = random_dense(rows, heads * d_v, t, 4);
    drop = random_drop(p, rows);
    for (int h = 0; h < heads; ++h) slopes.push_back(0.5 / (h + 1));
    biases = random_dense(1, int64_t(heads) * buckets, sum_type(t), 5, -2, 2);
    if (scale == 0) scale = 1 / std::sqrt(double(d_k));
  }
  // Sentence i alone.
  Scene sentence(size_t i) const {
    Packed shape = *this;
    shape.queries = {queries[i]}, shape.keys = {keys[i]};
    Scene one(shape, t);
    one.q = q.slice(q_offsets[i], queries[i]);
    one.k = k.slice(k_offsets[i], keys[i]);
    one.v = v.slice(k_offsets[i], keys[i]);
    one.d_o = d_o.slice(q_offsets[i], queries[i]);
    one.drop = drop.slice(q_offsets[i], queries[i]);
    return one;
  }
  int64_t sentences() const { return int64_t(queries.size()); }
  int kv_of(int head) const { return head * kv_heads / heads; }
  // Keys that query i of a sentence of m keys sees.
  int64_t visible(int64_t i, int64_t m) const { return causal ? std::min(m, i + 1) : m; }
  // The bucket of query i and key j.
  int bucket(int64_t i, int64_t j) const {
    return int(std::clamp<int64_t>(j - i, -reach, reach) + reach) % buckets;
  }
  // What is added to the score of query i and key j of their sentence.
  double bias(int head, int64_t i, int64_t j) const {
    if (window && std::abs(i - j) >= window) return -INFINITY;
    if (buckets) return biases(0, head * buckets + bucket(i, j));
    return sloped ? -slopes[size_t(head)] * double(std::abs(i - j)) : 0;
  }
  // The operands in the memory of a run, without outputs.
  tx::Attention operands(Run& run) const {
    tx::Attention a;
    a.q = run.input(q, t);
    a.k = run.input(k, t);
    a.v = run.input(v, t);
    a.q_offsets = run.array(q_offsets);
    a.k_offsets = run.array(k_offsets);
    a.sentences = sentences();
    a.heads = heads, a.kv_heads = kv_heads, a.d_k = d_k, a.d_v = d_v;
    a.causal = causal;
    a.window = window;
    if (sloped) a.slopes = run.array(slopes);
    if (buckets) a.distances = distance_bias(run, *this, biases, t);
    a.scale = scale;
    a.drop = run.dropout(drop);
    return a;
  }
};

// The type of log-sum-exps: double for doubles, else float.
inline void* lse_array(Run& run, const Dense& values, DType t) {
  if (t == DType::f64) return run.array(values.data, Access::write);
  return run.array(std::vector<float>(values.data.begin(), values.data.end()), Access::write);
}

inline void keep_lse(Run& run, const Scene& s, const void* lse) {
  const int64_t size = s.q.rows * s.heads;
  if (s.t == DType::f64)
    run.keep(static_cast<const double*>(lse), size);
  else
    run.keep(static_cast<const float*>(lse), size);
}

struct NaiveAttention {
  const Scene& s;
  Dense o, lse, dq, dk, dv, d_biases;

  explicit NaiveAttention(const Scene& scene)
      : s(scene),
        o(s.q.rows, s.heads * s.d_v),
        lse(1, s.q.rows * s.heads, -INFINITY),
        dq(s.q.rows, s.q.cols),
        dk(s.k.rows, s.k.cols),
        dv(s.v.rows, s.v.cols),
        d_biases(1, s.biases.cols) {
    for (int64_t sentence = 0; sentence < s.sentences(); ++sentence)
      for (int head = 0; head < s.heads; ++head)
        for (int64_t i = 0; i < s.queries[size_t(sentence)]; ++i) row(sentence, head, i);
  }

  // Weights (queries, keys) of one sentence and head, before dropout.
  Dense weights(int64_t sentence, int head) const {
    Dense all(s.queries[size_t(sentence)], s.keys[size_t(sentence)]);
    for (int64_t i = 0; i < all.rows; ++i) {
      double log_sum;
      const std::vector<double> w = softmax(sentence, head, i, log_sum);
      std::copy(w.begin(), w.end(), all.data.begin() + i * all.cols);
    }
    return all;
  }

 private:
  double score(int64_t query, int64_t key, int head) const {
    double sum = 0;
    for (int l = 0; l < s.d_k; ++l)
      sum += s.q(query, head * s.d_k + l) * s.k(key, s.kv_of(head) * s.d_k + l);
    return sum * s.scale;
  }

  std::vector<double> softmax(int64_t sentence, int head, int64_t i, double& log_sum) const {
    const int64_t query = s.q_offsets[size_t(sentence)] + i;
    const int64_t first = s.k_offsets[size_t(sentence)];
    std::vector<double> w(size_t(s.visible(i, s.keys[size_t(sentence)])));
    double max = -INFINITY, sum = 0;
    for (size_t j = 0; j < w.size(); ++j) {
      w[j] = score(query, first + int64_t(j), head) + s.bias(head, i, int64_t(j));
      max = std::max(max, w[j]);
    }
    for (double& x : w) sum += x = std::exp(x - max);
    for (double& x : w) x /= sum;
    log_sum = max + std::log(sum);
    return w;
  }

  // One query of one head: o, lse, and its part of the gradients.
  void row(int64_t sentence, int head, int64_t i) {
    const int64_t query = s.q_offsets[size_t(sentence)] + i, at = s.kv_of(head);
    if (s.keys[size_t(sentence)] == 0) return;
    const std::vector<double> w = softmax(sentence, head, i, lse(0, query * s.heads + head));
    std::vector<double> dp(w.size());
    double dot = 0;
    for (size_t j = 0; j < w.size(); ++j) {
      const int64_t key = s.k_offsets[size_t(sentence)] + int64_t(j);
      const double factor = s.drop.factor(query, int64_t(j), head);
      for (int l = 0; l < s.d_v; ++l) {
        const double value = s.v(key, at * s.d_v + l), g = s.d_o(query, head * s.d_v + l);
        o(query, head * s.d_v + l) += w[j] * factor * value;
        dv(key, at * s.d_v + l) += w[j] * factor * g;
        dp[j] += factor * g * value;
      }
      dot += w[j] * dp[j];
    }
    for (size_t j = 0; j < w.size(); ++j) {
      const int64_t key = s.k_offsets[size_t(sentence)] + int64_t(j);
      const double ds = w[j] * (dp[j] - dot) * s.scale;
      if (s.buckets) d_biases(0, head * s.buckets + s.bucket(i, int64_t(j))) += ds / s.scale;
      for (int l = 0; l < s.d_k; ++l) {
        dq(query, head * s.d_k + l) += ds * s.k(key, at * s.d_k + l);
        dk(key, at * s.d_k + l) += ds * s.q(query, head * s.d_k + l);
      }
    }
  }
};

// For weighted sums: tensor cores use weights of 16 significant bits, as two bf16 numbers.
inline Tolerance sum_tolerance(DType t) {
  return tolerance(t, std::string(TX_TEST_DEVICE) == "cpu" ? 1 : 4);
}

// Ragged packings: an empty key side, an empty sentence, lengths from 1 to beyond two blocks.
inline std::vector<Packed> packings() {
  const std::vector<int64_t> a = {3, 1, 17, 0, 63, 2, 130, 5}, b = {1, 130, 17, 3, 0, 47, 63, 6};
  std::vector<Packed> all;
  all.push_back({a, b, 2, 2, 8, 8, false, 0, 0});
  all.push_back({a, a, 2, 2, 16, 16, true, 0, 0});
  all.push_back({a, b, 3, 1, 5, 7, true, 0, 0.1});
  all.push_back({a, b, 4, 2, 17, 3, false, 0.3, 0.5});
  all.push_back({{1, 1, 3, 50}, {1, 40, 7, 130}, 2, 2, 3, 33, true, 0, 0});
  all.push_back({{49, 97}, {49, 97}, 1, 1, 1, 1, true, 0, 0.1});
  all.push_back({{96}, {33}, 2, 1, 64, 64, false, 0, 0});
  for (const bool causal : {false, true}) {
    all.push_back({a, a, 2, 1, 16, 16, causal, 0, 0.1, 0, true});
    all.push_back({a, a, 2, 2, 8, 8, causal, 0, 0, 2, false});
    all.push_back({a, a, 4, 2, 16, 7, causal, 0, 0.1, 9, true});
    all.push_back({{200, 20}, {200, 20}, 1, 1, 8, 8, causal, 0, 0, 50, false});
    all.push_back({a, a, 4, 2, 16, 7, causal, 1, 0.1, 9, false, 5});
    all.push_back({a, a, 2, 2, 8, 8, causal, 0, 0, 0, false, 23});
  }
  return all;
}

// Short and long sentences, with lengths around those of tiles: 32 rows of two heads, 64 of one.
inline std::vector<Packed> tile_ends() {
  const std::vector<int64_t> a = {31, 33, 64, 32, 1, 65, 32, 129},
                             b = {32, 20, 65, 33, 64, 1, 32, 97};
  return {{a, a, 3, 3, 64, 64, true, 0, 0.1},
          {a, b, 3, 3, 64, 64, false, 0, 0.1},
          {b, a, 6, 3, 32, 20, false, 0, 0.1},
          {b, b, 2, 1, 128, 100, true, 0, 0}};
}

inline std::ostream& operator<<(std::ostream& out, const Scene& s) {
  return out << name_of(s.t) << ", " << s.sentences() << " sentences, heads " << s.heads << "/"
             << s.kv_heads << ", d_k " << s.d_k << ", d_v " << s.d_v << (s.causal ? ", causal" : "")
             << ", dropout " << s.p << ", window " << s.window << (s.sloped ? ", slopes" : "")
             << ", buckets " << s.buckets;
}

}  // namespace tx_test
