// attention_cached: decoding against cached keys and values, by index or from a first row.
#include "tests/unit/kernels/naive_attention.h"

using namespace tx_test;

namespace {

constexpr int64_t longest = 130;

// Hypotheses that share a cache: each reads its own keys, in its own order.
struct Decoding {
  DType t, cache;  // of keys and values
  int heads, kv_heads, d_k, d_v, window = 0;
  bool indexed, sloped = false;
  int buckets = 0;  // of distances; 0: no biases
  static constexpr int reach = 11;
  double scale;
  std::vector<double> slopes;
  std::vector<int32_t> lengths, first, index;  // index (rows, longest)
  Dense q, k, v, own_k, own_v, biases;         // biases (1, heads * buckets)

  Decoding(DType type, const std::vector<int32_t>& counts, int h, int dk, int dv, bool by_index,
           int kv = 0)
      : t(type),
        cache(type),
        heads(h),
        kv_heads(kv ? kv : h),
        d_k(dk),
        d_v(dv),
        indexed(by_index),
        scale(1 / std::sqrt(double(dk))),
        lengths(counts) {
    const int64_t room = 4 * longest;
    first = random_ids(rows(), room - longest, 1);
    index = random_ids(rows() * longest, room, 2);
    q = random_dense(rows(), h * dk, t, 3, -2, 2);
    k = random_dense(room, kv_heads * dk, t, 4, -2, 2);
    v = random_dense(room, kv_heads * dv, t, 5);
    for (int i = 0; i < h; ++i) slopes.push_back(0.5 / (i + 1));
  }
  // Rows `from` and `to` begin with the same keys.
  void share(int64_t from, int64_t to, int64_t keys) {
    first[size_t(to)] = first[size_t(from)];
    std::copy_n(index.begin() + from * longest, keys, index.begin() + to * longest);
  }
  void bias(int count) {
    buckets = count;
    biases = random_dense(1, heads * count, sum_type(t), 6, -2, 2);
  }
  int bucket(int64_t i, int64_t j) const {
    return int(std::clamp<int64_t>(j - i, -reach, reach) + reach) % buckets;
  }
  int64_t rows() const { return int64_t(lengths.size()); }
  int64_t key(int64_t row, int64_t j) const {
    return indexed ? index[size_t(row * longest + j)] : first[size_t(row)] + j;
  }
};

Dense naive(const Decoding& p) {
  Dense o(p.rows(), p.heads * p.d_v);
  for (int64_t r = 0; r < p.rows(); ++r)
    for (int h = 0; h < p.heads; ++h) {
      std::vector<double> w(size_t(p.lengths[size_t(r)]));
      const int at = h * p.kv_heads / p.heads;
      double max = -INFINITY, sum = 0;
      for (size_t j = 0; j < w.size(); ++j) {
        const double distance = double(w.size() - 1 - j);
        for (int l = 0; l < p.d_k; ++l)
          w[j] += p.scale * p.q(r, h * p.d_k + l) * p.k(p.key(r, int64_t(j)), at * p.d_k + l);
        if (p.sloped) w[j] -= p.slopes[size_t(h)] * distance;
        if (p.buckets) w[j] += p.biases(0, h * p.buckets + p.bucket(0, -int64_t(distance)));
        if (p.window && distance >= p.window) w[j] = -INFINITY;
        max = std::max(max, w[j]);
      }
      for (double& x : w) sum += x = std::exp(x - max);
      for (size_t j = 0; j < w.size(); ++j)
        for (int l = 0; l < p.d_v; ++l)
          o(r, h * p.d_v + l) += w[j] / sum * p.v(p.key(r, int64_t(j)), at * p.d_v + l);
    }
  return o;
}

// Of rows first .. first + count - 1.
tx::CachedAttention arguments(const Decoding& p, Run& run, int64_t first, int64_t count) {
  tx::CachedAttention a;
  a.q = run.input(p.q.slice(first, count), p.t);
  const bool bring = p.own_k.rows > 0;
  a.k = bring ? run.inout(p.k, p.cache) : run.input(p.k, p.cache);
  a.v = bring ? run.inout(p.v, p.cache) : run.input(p.v, p.cache);
  a.o = run.output(count, p.heads * p.d_v, p.t);
  if (p.indexed)
    a.index = run.array(part_of(p.index, first * longest, count * longest));
  else
    a.first = run.array(part_of(p.first, first, count));
  a.index_stride = longest;
  a.lengths = run.array(part_of(p.lengths, first, count));
  a.heads = p.heads, a.kv_heads = p.kv_heads, a.d_k = p.d_k, a.d_v = p.d_v;
  a.window = p.window;
  if (p.sloped) a.slopes = run.array(p.slopes);
  if (p.buckets) a.distances = distance_bias(run, p, p.biases, p.t);
  a.scale = p.scale;
  if (bring) {
    a.own_k = run.input(p.own_k.slice(first, count), p.t);
    a.own_v = run.input(p.own_v.slice(first, count), p.t);
  }
  return a;
}

Matrix call(const Decoding& p, Run& run, int64_t first, int64_t count) {
  const tx::CachedAttention a = arguments(p, run, first, count);
  run.call([&](auto& b) { b.attention_cached(a); });
  if (!a.own_k.empty()) run.keep(a.k), run.keep(a.v);
  return a.o;
}

Dense run_all(const Decoding& p) {
  return run_layouts([&](Run& run) { run.keep(call(p, run, 0, p.rows())); })[0];
}

// Queries, and own keys and values, from the product of x or of a norm: one kernel or three.
Results projected(const Decoding& p, int64_t width, bool normed, bool by_one) {
  const bool bring = p.own_k.rows > 0;
  const DType t = p.t, full = sum_type(t);
  const int64_t outputs = p.q.cols + p.own_k.cols + p.own_v.cols;
  const Dense sub = random_dense(p.rows(), width, t, 8), w = random_dense(outputs, width, t, 9);
  const Dense gamma = random_dense(1, width, full, 10), bias = random_dense(1, outputs, full, 11);
  return run_layouts([&](Run& run) {
    tx::CachedAttention a = arguments(p, run, 0, p.rows());
    const Matrix y = run.output(p.rows(), outputs, t);
    a.q = y.columns(0, p.q.cols);
    if (bring) a.own_k = y.columns(p.q.cols, p.own_k.cols);
    if (bring) a.own_v = y.columns(p.q.cols + p.own_k.cols, p.own_v.cols);
    tx::AddNorm norm;
    tx::RowProduct x;
    x.x = run.input(sub, t), x.bias = run.input(bias, full), x.y = y;
    if (normed) {
      norm.sub = x.x, norm.gamma = run.input(gamma, full), norm.epsilon = 1e-6;
      norm.normed = x.x = run.output(p.rows(), width, t);
    }
    const Matrix weights = run.input(w, t);
    run.call([&](auto& b) {
      x.prepared = b.prepare(weights);
      if (by_one) {
        b.attention_projected(norm, x, a);
      } else {
        if (normed) b.add_norm(norm);
        b.matmul_invariant(x.x, x.prepared, x.bias, x.activation, x.y);
        b.attention_cached(a);
      }
      b.release_prepared(x.prepared);
    });
    run.keep(a.o);
    if (normed) run.keep(norm.normed);
    if (bring) run.keep(a.k), run.keep(a.v);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_cached)

BOOST_AUTO_TEST_CASE(table) {
  const std::vector<int32_t> lengths = {1, 130, 3, 0, 17, 63, 64, 2, 47, 5, 1};
  struct Sizes {
    int heads, d_k, d_v;
  };
  for (const DType t : dtypes())
    for (const bool indexed : {false, true})
      for (const Sizes& s : {Sizes{1, 1, 1},
                             {2, 8, 8},
                             {3, 17, 5},
                             {2, 64, 64},
                             {1, 3, 130},
                             {2, 33, 96},
                             {1, 48, 33},
                             {1, 100, 63}}) {
        const Decoding p(t, lengths, s.heads, s.d_k, s.d_v, indexed);
        BOOST_TEST_CONTEXT(name_of(t) << ", heads " << s.heads << ", d_k " << s.d_k << ", d_v "
                                      << s.d_v << (indexed ? ", index" : ", first"))
        check_close(run_all(p), naive(p), t, 2);
      }
}

// Groups of heads that share keys, penalties and biases by distance, and windows.
BOOST_AUTO_TEST_CASE(groups_distances_and_windows) {
  const std::vector<int32_t> lengths = {1, 130, 3, 0, 17, 63, 64, 2, 47, 5, 1};
  for (const DType t : dtypes())
    for (const bool indexed : {false, true})
      for (const int kind : {0, 1, 2})
        for (const int window : {0, 1, 16, 100})
          for (const auto& [heads, kv_heads, d] : {std::array{4, 2, 8}, {3, 1, 17}, {2, 2, 64}}) {
            Decoding p(t, lengths, heads, d, d, indexed, kv_heads);
            p.sloped = kind == 1, p.window = window;
            if (kind == 2) p.bias(9);
            BOOST_TEST_CONTEXT(name_of(t) << ", heads " << heads << "/" << kv_heads << ", window "
                                          << window << ", distances " << kind)
            check_close(run_all(p), naive(p), t, 2);
          }
}

BOOST_AUTO_TEST_CASE(rows_do_not_depend_on_other_rows) {
  std::vector<int32_t> lengths = random_ids(40, longest + 1, 9);
  lengths[3] = 0;
  for (const DType t : dtypes())
    for (const int d : {8, 17, 64})
      for (const bool indexed : {false, true}) {
        Decoding p(t, lengths, 2, d, d, indexed);
        p.bias(9);
        check_rows_alone(p.rows(), [&](Run& run, int64_t first, int64_t count) {
          run.keep(call(p, run, first, count));
        });
      }
}

// Enough rows for every multiprocessor; the number of heads is not a multiple of 4.
BOOST_AUTO_TEST_CASE(many_rows) {
  for (const DType t : dtypes())
    for (const bool indexed : {false, true}) {
      Decoding p(t, random_ids(300, longest + 1, 9), 5, 8, 8, indexed);
      for (int64_t to = 100; to < 200; ++to)
        if (to % 5) p.lengths[size_t(to)] = p.lengths[size_t(to - 1)], p.share(to - 1, to, longest);
      Run all(layouts()[0]), some(layouts()[0]);
      const Dense whole = all.read(call(p, all, 0, p.rows()));
      check_close(whole, naive(p), t, 2);
      for (const int64_t first : {0, 101, 293})
        BOOST_TEST(same_bits(some.read(call(p, some, first, 7)), whole.slice(first, 7)),
                   "rows from " << first << " on depend on the other rows");
    }
}

// Hypotheses of a sentence share all keys or the first ones; the result of one does not depend on
// the others. Also with a bf16 cache and f32 activations.
BOOST_AUTO_TEST_CASE(rows_that_share_keys) {
  const std::vector<int32_t> lengths = {40, 40,  40,  40,  40,  40, 7, 7,
                                        7,  130, 130, 130, 130, 1,  1, 0};
  for (const DType t : dtypes())
    for (const DType cache : {t, DType::bf16})
      for (const int d : {8, 33, 64, 128})
        for (const bool indexed : {false, true}) {
          if (cache != t && (t != DType::f32 || std::string(TX_TEST_DEVICE) != "cpu")) continue;
          Decoding p(t, lengths, 2, d, d, indexed, d == 64 ? 1 : 2);
          p.cache = cache, p.sloped = d == 33, p.window = d == 8 ? 30 : 0;
          p.k = random_dense(p.k.rows, p.k.cols, cache, 4, -2, 2);
          p.v = random_dense(p.v.rows, p.v.cols, cache, 5);
          for (int64_t to = 1; to < 6; ++to) p.share(0, to, 40 - 3 * to);
          p.share(6, 7, 7), p.share(6, 8, 6);
          for (int64_t to = 10; to < 13; ++to) p.share(9, to, 100);
          p.share(13, 14, 1);
          BOOST_TEST_CONTEXT(name_of(t) << ", cache " << name_of(cache) << ", d " << d
                                        << (indexed ? ", index" : ", first")) {
            check_close(run_all(p), naive(p), t, 2);
            check_rows_alone(p.rows(), [&](Run& run, int64_t first, int64_t count) {
              run.keep(call(p, run, first, count));
            });
          }
        }
}

// The last query of a causal sentence, decoded against its cache.
BOOST_AUTO_TEST_CASE(equals_attention) {
  for (const DType t : dtypes())
    for (const int32_t length : {1, 3, 17, 63, 130}) {
      Decoding p(t, std::vector<int32_t>(size_t(length)), 2, 16, 8, false);
      Packed shape{{length}, {length}, 2, 2, 16, 8, true, p.scale, 0};
      Scene s(shape, t);
      s.q = p.q, s.k = p.k.slice(0, length), s.v = p.v.slice(0, length);
      for (int32_t i = 0; i < length; ++i) {
        p.lengths[size_t(i)] = i + 1;
        p.first[size_t(i)] = 0;
      }
      Run run(layouts()[1]);
      tx::Attention a = s.operands(run);
      a.o = run.output(length, s.heads * s.d_v, t);
      run.call([&](auto& b) { b.attention(a); });
      Tolerance limit = tolerance(t, 2);
      if (t == DType::bf16) limit.relative *= 2;  // both are rounded
      BOOST_TEST_CONTEXT(name_of(t) << ", length " << length)
      check_close(run_all(p), run.read(a.o), limit);
    }
}

// The last key and value of each row are passed as arguments: the result is the same as if the
// cache already contained them, and the call stores them in the cache.
BOOST_AUTO_TEST_CASE(rows_bring_their_own_keys) {
  const std::vector<int32_t> lengths = {1, 130, 3, 17, 63, 64, 65, 2, 47, 5, 1};
  for (const DType t : dtypes())
    for (const DType cache : {t, DType::bf16})
      for (const auto& [heads, kv_heads, d_k, d_v] :
           {std::array{4, 2, 8, 8}, {3, 1, 17, 5}, {2, 2, 64, 64}, {2, 1, 128, 96}})
        for (const int window : {0, 1, 16}) {
          if (cache != t && (t != DType::f32 || std::string(TX_TEST_DEVICE) != "cpu")) continue;
          Decoding p(t, lengths, heads, d_k, d_v, true, kv_heads);
          p.cache = cache, p.window = window, p.sloped = d_k == 17;
          for (int32_t& at : p.index) at += at < int32_t(p.rows()) ? int32_t(p.rows()) : 0;
          p.k = random_dense(p.k.rows, p.k.cols, cache, 4, -2, 2);
          p.v = random_dense(p.v.rows, p.v.cols, cache, 5);
          Decoding there = p;
          p.own_k = random_dense(p.rows(), kv_heads * d_k, cache, 6, -2, 2);
          p.own_v = random_dense(p.rows(), kv_heads * d_v, cache, 7);
          for (int64_t r = 0; r < p.rows(); ++r) {
            const size_t last = size_t(r * longest + lengths[size_t(r)] - 1);
            p.index[last] = there.index[last] = int32_t(r);
            for (int64_t j = 0; j < p.k.cols; ++j) there.k(r, j) = p.own_k(r, j), p.k(r, j) = 1000;
            for (int64_t j = 0; j < p.v.cols; ++j) there.v(r, j) = p.own_v(r, j), p.v(r, j) = 1000;
          }
          BOOST_TEST_CONTEXT(name_of(t)
                             << ", cache " << name_of(cache) << ", heads " << heads << "/"
                             << kv_heads << ", d_k " << d_k << ", window " << window) {
            const Results got = run_layouts([&](Run& run) { run.keep(call(p, run, 0, p.rows())); });
            BOOST_TEST(same_bits(got[2], run_all(there)));
            check_close(got[2], naive(there), t, 2);
            check_close(got[0], there.k, {0, 0});
            check_close(got[1], there.v, {0, 0});
          }
        }
}

// For few rows of bf16 a GPU may compute all by one kernel.
BOOST_AUTO_TEST_CASE(after_a_product_the_bits_are_those_of_single_kernels) {
  const std::vector<int32_t> lengths = {1, 130, 3, 17, 63, 64, 65, 2, 47, 5, 1, 40, 40, 40, 40, 9};
  struct Shape {
    int rows, heads, kv_heads, d;
    int64_t width;
  };
  for (const DType t : dtypes())
    for (const Shape s : {Shape{16, 2, 2, 64, 512},
                          {3, 1, 1, 32, 64},
                          {5, 3, 3, 48, 320},
                          {11, 2, 1, 64, 256},
                          {6, 1, 1, 64, 1024},
                          {2, 2, 2, 24, 128}})
      for (const bool bring : {false, true})
        for (const bool normed : {false, true}) {
          const std::vector<int32_t> counts(lengths.begin(), lengths.begin() + s.rows);
          Decoding p(t, counts, s.heads, s.d, s.d, bring, s.kv_heads);
          if (bring) {
            p.sloped = s.d == 48, p.window = s.d == 32 ? 2 : 0;
            p.own_k = p.own_v = Dense(p.rows(), s.kv_heads * s.d, 0);
            for (int32_t& at : p.index) at += at < s.rows ? s.rows : 0;
            for (int r = 0; r < s.rows; ++r)
              p.index[size_t(r * longest + counts[size_t(r)] - 1)] = r;
          } else if (s.rows == 16) {
            for (int64_t to = 12; to < 15; ++to) p.share(11, to, 40);
          }
          const Results one = projected(p, s.width, normed, true);
          const Results three = projected(p, s.width, normed, false);
          for (size_t i = 0; i < three.size(); ++i)
            BOOST_TEST(same_bits(one[i], three[i]),
                       "result " << i << ", " << name_of(t) << ", rows " << s.rows << ", heads "
                                 << s.heads << ", d " << s.d << ", own " << bring);
        }
}

BOOST_AUTO_TEST_CASE(large_scores_do_not_overflow) {
  Decoding p(DType::f32, {2, 130}, 1, 8, 8, true);
  for (double& x : p.q.data) x *= 1000;
  const Dense o = run_all(p);
  for (const double x : o.data) BOOST_TEST(std::abs(x) <= 1);
}

BOOST_AUTO_TEST_SUITE_END()
