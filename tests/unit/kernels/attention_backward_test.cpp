// attention_backward: against the formula, and against differences of attention in f64.
#include "lib/base/error.h"
#include "tests/unit/kernels/naive_attention.h"

using namespace tx_test;

namespace {

// dq, dk, dv and that of the biases, assigned and added to it, given the log-sum-exps.
Results run_scene(const Scene& s, const Dense& lse) {
  return run_layouts([&](Run& run) {
    tx::AttentionGradient g;
    tx::Attention a = s.operands(run);
    a.lse = lse_array(run, lse, s.t);
    g.d_o = run.input(s.d_o, s.t);
    g.dq = run.output(s.q.rows, s.q.cols, s.t);
    g.dk = run.output(s.k.rows, s.k.cols, s.t);
    g.dv = run.output(s.v.rows, s.v.cols, s.t);
    if (s.buckets) g.d_distances = run.output(1, s.biases.cols, sum_type(s.t));
    run.call([&](auto& b) { b.attention_backward(a, g); });
    run.keep(g.dq);
    run.keep(g.dk);
    run.keep(g.dv);
    if (!s.buckets) return;
    run.keep(g.d_distances);
    g.add_distances = true;
    run.call([&](auto& b) { b.attention_backward(a, g); });
    run.keep(g.d_distances);
  });
}

// Sum of d_o * o, by attention; its log-sum-exps if requested.
double objective(const Scene& s, Dense* lse = nullptr) {
  Run run(layouts()[0]);
  tx::Attention a = s.operands(run);
  a.o = run.output(s.q.rows, s.heads * s.d_v, s.t);
  a.lse = lse_array(run, Dense(1, s.q.rows * s.heads, NAN), s.t);
  run.call([&](auto& b) { b.attention(a); });
  const Dense o = run.read(a.o);
  double sum = 0;
  for (size_t i = 0; i < o.data.size(); ++i) sum += o.data[i] * s.d_o.data[i];
  keep_lse(run, s, a.lse);
  if (lse) *lse = run.results[0];
  return sum;
}

// Tensor cores take weights and gradients of their logarithms rounded to bf16, whose errors remain
// where products cancel. gradients_are_precise checks their size over all.
Tolerance gradient_tolerance(const Scene& s, double factor) {
  Tolerance limit = tolerance(s.t, factor);
  const bool plain = s.window || s.sloped || s.buckets || std::max(s.d_k, s.d_v) > 128;
  if (std::string(TX_TEST_DEVICE) != "cpu" && s.t == DType::bf16 && !plain) limit.of_scale = 0x1p-9;
  return limit;
}

void check_gradients(const Packed& shape, DType t) {
  const Scene s(shape, t);
  const NaiveAttention want(s);
  const Results got = run_scene(s, want.lse);
  const Tolerance limit = gradient_tolerance(s, 4);
  BOOST_TEST_CONTEXT(s) {
    check_close(got[0], want.dq, limit);
    check_close(got[1], want.dk, limit);
    check_close(got[2], want.dv, limit);
    if (!s.buckets) return;
    Dense twice = want.d_biases;
    for (double& x : twice.data) x *= 2;
    check_close(got[3], want.d_biases, t, 16);
    check_close(got[4], twice, t, 16);
  }
}

// Each sentence alone gives the same bits as in the batch.
void check_sentences_alone(const Packed& shape, DType t) {
  const Scene s(shape, t);
  const Dense lse = NaiveAttention(s).lse;
  const Results all = run_scene(s, lse);
  for (size_t i = 0; i < s.queries.size(); ++i) {
    Dense part(1, s.queries[i] * s.heads);
    part.data = part_of(lse.data, s.q_offsets[i] * s.heads, part.cols);
    const Results got = run_scene(s.sentence(i), part);
    BOOST_TEST_CONTEXT(s << ", sentence " << i) {
      BOOST_TEST(same_bits(got[0], all[0].slice(s.q_offsets[i], s.queries[i])));
      BOOST_TEST(same_bits(got[1], all[1].slice(s.k_offsets[i], s.keys[i])));
      BOOST_TEST(same_bits(got[2], all[2].slice(s.k_offsets[i], s.keys[i])));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_backward)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const Packed& shape : packings()) check_gradients(shape, t);
}

BOOST_AUTO_TEST_CASE(agrees_with_differences, *needs_f64()) {
  const std::vector<Packed> shapes = {{{3, 0, 5, 2}, {4, 2, 1, 0}, 2, 2, 3, 5, false, 0, 0},
                                      {{5, 3}, {5, 6}, 4, 2, 2, 3, true, 0, 0.3},
                                      {{2, 3}, {5, 6}, 2, 1, 3, 2, true, 0.7, 0},
                                      {{7, 3}, {7, 3}, 2, 1, 3, 2, false, 0.7, 0.2, 3, true},
                                      {{9}, {9}, 2, 2, 3, 2, true, 0, 0, 4, true}};
  for (const Packed& shape : shapes) {
    const Scene s(shape, DType::f64, 2);
    Dense lse;
    objective(s, &lse);
    const Results got = run_scene(s, lse);
    Dense Scene::*const operands[] = {&Scene::q, &Scene::k, &Scene::v};
    for (size_t which = 0; which < 3; ++which) {
      Dense want = s.*operands[which];
      for (size_t i = 0; i < want.data.size(); ++i) {
        Scene up = s, down = s;
        (up.*operands[which]).data[i] += 1e-5;
        (down.*operands[which]).data[i] -= 1e-5;
        want.data[i] = (objective(up) - objective(down)) / 2e-5;
      }
      BOOST_TEST_CONTEXT(s << ", operand " << which) check_close(got[which], want, {0, 1e-8, 1});
    }
  }
}

// The log-sum-exps that attention() stored are as good as exact ones.
BOOST_AUTO_TEST_CASE(follows_attention) {
  for (const DType t : dtypes()) {
    const Scene s({{63, 1, 17}, {63, 5, 130}, 2, 1, 8, 8, true, 1, 0.1}, t, 4);
    Dense lse;
    objective(s, &lse);
    const NaiveAttention want(s);
    const Results got = run_scene(s, lse);
    const Tolerance limit = gradient_tolerance(s, 10);
    check_close(got[0], want.dq, limit);
    check_close(got[1], want.dk, limit);
    check_close(got[2], want.dv, limit);
  }
}

BOOST_AUTO_TEST_CASE(sentences_do_not_depend_on_other_sentences) {
  for (const DType t : dtypes())
    for (const Packed& shape : packings()) check_sentences_alone(shape, t);
}

BOOST_AUTO_TEST_CASE(heads_that_share_keys_unevenly_are_refused) {
  const Scene s({{3}, {3}, 3, 2, 8, 8, false, 0, 0}, DType::f32);
  Run run(layouts()[0]);
  const tx::Attention a = s.operands(run);
  run.call([&](auto& b) {
    BOOST_CHECK_THROW(b.attention_backward(a, {}), tx::Error);
    BOOST_CHECK_THROW(b.attention(a), tx::Error);
  });
}

BOOST_AUTO_TEST_SUITE_END()
