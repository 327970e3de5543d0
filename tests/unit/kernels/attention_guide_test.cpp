// guide_attention: against the formula, and against differences of the formula's loss in f64.
#include "lib/base/philox.h"
#include "tests/unit/kernels/naive_attention.h"

using namespace tx_test;

namespace {

// A scene with links of one head: most rows have up to three, some none.
struct Guided : Scene {
  int head;
  double weight = 0.75, loss_scale = 0.125;
  std::vector<int32_t> starts{0}, columns;
  Dense dq, dk;  // the gradient of the links is added to these

  Guided(const Packed& shape, DType type, double size = 1)
      : Scene(shape, type, size), head(shape.heads - 1) {
    dq = random_dense(q.rows, q.cols, t, 5);
    dk = random_dense(k.rows, k.cols, t, 6);
    tx::PhiloxStream random(3, 7);
    for (size_t s = 0; s < queries.size(); ++s)
      for (int64_t i = 0; i < queries[s]; ++i) {
        const int64_t seen = visible(i, keys[s]);
        for (int64_t j = random.next() % 3, links = 0; seen > 0 && j < seen && links < 3; ++links) {
          columns.push_back(int32_t(j));
          j += 1 + random.next() % 4;
        }
        if (random.next() % 4 == 0) columns.resize(size_t(starts.back()));
        starts.push_back(int32_t(columns.size()));
      }
  }
  int32_t count(int64_t row) const { return starts[size_t(row) + 1] - starts[size_t(row)]; }
};

// The record's sums, then dq and dk.
struct Outcome {
  double loss = 100, rows = 200;
  Dense dq, dk;
};

Outcome naive(const Guided& s) {
  Outcome out;
  out.dq = s.dq, out.dk = s.dk;
  const NaiveAttention attention(s);
  const int kv = s.kv_of(s.head);
  const double factor = s.weight * s.loss_scale * s.scale;
  for (size_t sentence = 0; sentence < s.queries.size(); ++sentence) {
    const Dense w = attention.weights(int64_t(sentence), s.head);
    for (int64_t i = 0; i < w.rows; ++i) {
      const int64_t query = s.q_offsets[sentence] + i;
      if (s.count(query) == 0) continue;
      std::vector<double> ds(w.data.begin() + i * w.cols, w.data.begin() + (i + 1) * w.cols);
      for (int64_t j = s.visible(i, w.cols); j < w.cols; ++j) ds[size_t(j)] = 0;
      out.rows += 1;
      for (int32_t l = s.starts[size_t(query)]; l < s.starts[size_t(query) + 1]; ++l) {
        const auto j = size_t(s.columns[size_t(l)]);
        out.loss -= std::log(w(i, int64_t(j))) / s.count(query);
        ds[j] -= 1.0 / s.count(query);
      }
      for (int64_t j = 0; j < w.cols; ++j)
        for (int l = 0; l < s.d_k; ++l) {
          const int64_t key = s.k_offsets[sentence] + j;
          out.dq(query, s.head * s.d_k + l) += factor * ds[size_t(j)] * s.k(key, kv * s.d_k + l);
          out.dk(key, kv * s.d_k + l) += factor * ds[size_t(j)] * s.q(query, s.head * s.d_k + l);
        }
    }
  }
  return out;
}

Results run_scene(const Guided& s, const Dense& lse) {
  return run_layouts([&](Run& run) {
    StepRecord start;
    start.guided = 100, start.guided_rows = 200, start.loss_scale = s.loss_scale;
    StepRecord* record = run.record(start);
    tx::Attention a = s.operands(run);
    a.lse = lse_array(run, lse, s.t);
    tx::AttentionGradient g;
    g.dq = run.inout(s.dq, s.t);
    g.dk = run.inout(s.dk, s.t);
    const tx::AttentionGuide guide{s.head, run.array(s.starts), run.array(s.columns), s.weight,
                                   record};
    run.call([&](auto& b) { b.guide_attention(a, guide, g); });
    const StepRecord r = run.read(record, 1)[0];
    run.keep({{r.guided, double(r.guided_rows)}});
    run.keep(g.dq);
    run.keep(g.dk);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_guide)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const Packed& shape : packings()) {
      if (shape.window > 0 || shape.sloped || shape.buckets > 0)
        continue;  // only self-attention has these
      const Guided s(shape, t);
      BOOST_TEST_CONTEXT(s) {
        const Outcome want = naive(s);
        const Results got = run_scene(s, NaiveAttention(s).lse);
        check_close({{got[0](0, 0)}}, {{want.loss}}, sum_type(t), 8);
        BOOST_TEST(got[0](0, 1) == want.rows);
        check_close(got[1], want.dq, t, 4);
        check_close(got[2], want.dk, t, 4);
      }
    }
}

BOOST_AUTO_TEST_CASE(agrees_with_differences, *needs_f64()) {
  const std::vector<Packed> shapes = {{{3, 0, 5, 2}, {4, 2, 1, 6}, 2, 2, 3, 5, false, 0, 0},
                                      {{5, 3}, {5, 6}, 4, 2, 2, 3, true, 0, 0.3}};
  for (const Packed& shape : shapes) {
    Guided s(shape, DType::f64, 2);
    s.dq = Dense(s.q.rows, s.q.cols), s.dk = Dense(s.k.rows, s.k.cols);
    const Results got = run_scene(s, NaiveAttention(s).lse);
    const auto objective = [](const Guided& at) {
      return at.weight * at.loss_scale * naive(at).loss;
    };
    Dense Scene::*const operands[] = {&Scene::q, &Scene::k};
    for (size_t which = 0; which < 2; ++which) {
      Dense want = s.*operands[which];
      for (size_t i = 0; i < want.data.size(); ++i) {
        Guided up = s, down = s;
        (up.*operands[which]).data[i] += 1e-5;
        (down.*operands[which]).data[i] -= 1e-5;
        want.data[i] = (objective(up) - objective(down)) / 2e-5;
      }
      BOOST_TEST_CONTEXT(s << ", operand " << which)
      check_close(got[1 + which], want, {0, 1e-8, 1});
    }
  }
}

BOOST_AUTO_TEST_CASE(without_links_nothing_changes) {
  for (const DType t : dtypes()) {
    Guided s({{3, 17}, {5, 9}, 2, 2, 8, 8, false, 0, 0}, t);
    s.columns.clear();
    s.starts.assign(s.starts.size(), 0);
    const Results got = run_scene(s, NaiveAttention(s).lse);
    BOOST_TEST(got[0](0, 0) == 100);
    BOOST_TEST(got[0](0, 1) == 200);
    BOOST_TEST(same_bits(got[1], s.dq));
    BOOST_TEST(same_bits(got[2], s.dk));
  }
}

BOOST_AUTO_TEST_SUITE_END()
