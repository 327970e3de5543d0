// square_sums, gradient_norm, adam, sgd and the kernels of Muon over flat blocks.
#include "tests/unit/kernels/checker.h"

using namespace tx_test;
using tx::AdamSettings;

namespace {

struct Problem {
  DType t;
  int64_t size, decayed;
  bool copied;
  AdamSettings settings;
  StepRecord record;
  Dense w, g, m, v;

  Problem(DType type, int64_t n, int64_t decay, bool copy)
      : t(type),
        size(n),
        decayed(decay),
        copied(copy),
        w(random_dense(1, n, t, 1)),
        g(random_dense(1, n, t, 2)),
        m(random_dense(1, n, t, 3)),
        v(random_dense(1, n, t, 4, 0, 1)) {
    record.step = 7;
    record.rate = 0.01;
    record.clip_factor = 0.25;
    settings.weight_decay = 0.1;
  }
};

// Parameters, m, v after one step, then the bf16 copy.
Results run_problem(const Problem& p, bool sgd = false, double scale = 0) {
  return run_layouts([&](Run& run) {
    const Matrix w = run.inout(p.w, p.t), g = run.input(p.g, p.t), m = run.inout(p.m, p.t);
    const Matrix v = run.inout(p.v, p.t);
    const Matrix copy = p.copied ? run.output(1, p.size, DType::bf16) : Matrix{};
    const StepRecord* record = run.record(p.record);
    run.call([&](auto& b) {
      if (sgd)
        b.sgd(w, g, scale, copy, p.decayed, p.settings, record);
      else
        b.adam(w, g, m, v, copy, p.decayed, p.settings, record);
    });
    for (const Matrix& x : {w, m, v}) run.keep(x);
    if (p.copied) run.keep(copy);
  });
}

Results naive(const Problem& p, bool sgd) {
  Results out = {p.w, p.m, p.v};
  const AdamSettings& s = p.settings;
  for (size_t i = 0; i < p.w.data.size(); ++i) {
    double &w = out[0].data[i], &m = out[1].data[i], &v = out[2].data[i];
    const double g = p.g.data[i] * p.record.clip_factor;
    const double decay = int64_t(i) < p.decayed ? s.weight_decay * w : 0;
    double move = g;
    if (!sgd) {
      m = s.beta1 * m + (1 - s.beta1) * g;
      v = s.beta2 * v + (1 - s.beta2) * g * g;
      move = m / (1 - std::pow(s.beta1, double(p.record.step))) /
             (std::sqrt(v / (1 - std::pow(s.beta2, double(p.record.step)))) + s.epsilon);
    }
    w -= p.record.rate * (move + decay);
  }
  return out;
}

void check(const Problem& p, bool sgd) {
  const Results got = run_problem(p, sgd), want = naive(p, sgd);
  for (size_t i = 0; i < 3; ++i) check_close(got[i], want[i], p.t);
  if (p.copied) check_close(got[3], round_to(DType::bf16, round_to(DType::f32, got[0])), {0, 0});
}

// The squares of a flat block of gradients.
Matrix squares_of(Run& run, Matrix g) {
  const Matrix squares = run.output(1, tx::norm_blocks(g.cols), DType::f64);
  run.call([&](auto& b) { b.square_sums(g, squares); });
  return squares;
}

StepRecord norm_of(const Dense& g, DType t, double clip) {
  const Results got = run_layouts([&](Run& run) {
    StepRecord start;
    start.clip_norm = clip, start.clip_factor = 77, start.gradient_norm = 77, start.skip = 77;
    StepRecord* record = run.record(start);
    const Matrix squares = squares_of(run, run.input(g, t));
    run.call([&](auto& b) { b.gradient_norm(squares, record); });
    const StepRecord r = run.read(record, 1)[0];
    run.keep({{r.gradient_norm, r.clip_factor, double(r.skip)}});
  });
  StepRecord r;
  r.gradient_norm = got[0](0, 0), r.clip_factor = got[0](0, 1), r.skip = int32_t(got[0](0, 2));
  return r;
}

std::vector<DType> sum_types() {
  return dtypes().back() == DType::f64 ? std::vector{DType::f32, DType::f64}
                                       : std::vector{DType::f32};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(adam)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : sum_types())
    for (const int64_t size : {1, 3, 17, 63, 130, 16383, 16384, 16385, 50000})
      for (const int64_t decayed : {int64_t(0), size / 3, size})
        for (const bool copied : {false, true})
          for (const bool sgd : {false, true}) {
            BOOST_TEST_CONTEXT(name_of(t) << ", " << size << " elements, " << decayed
                                          << " decayed, " << (sgd ? "sgd" : "adam"))
            check(Problem(t, size, decayed, copied), sgd);
          }
}

// Betas near 1: 1 - beta rounded to float once, not as a difference of floats.
BOOST_AUTO_TEST_CASE(slow_averages_keep_their_digits) {
  for (const DType t : sum_types())
    for (const double beta2 : {0.98, 0.999, 0.99999})
      for (const int64_t step : {1, 2, 1000, 1000000}) {
        Problem p(t, 63, 0, false);
        p.m = p.v = Dense(1, 63);
        p.settings.beta2 = beta2;
        p.settings.beta1 = 0.999;
        p.record.step = step;
        const Results got = run_problem(p), want = naive(p, false);
        BOOST_TEST_CONTEXT(name_of(t) << ", beta2 " << beta2 << ", step " << step) {
          for (size_t i = 0; i < 3; ++i) check_close(got[i], want[i], {tolerance(t).relative, 0});
        }
      }
}

BOOST_AUTO_TEST_CASE(known_values) {
  for (const DType t : sum_types()) {
    Problem p(t, 1, 0, false);
    p.settings.weight_decay = 0;
    p.record.rate = 0.1;
    p.record.clip_factor = 1;
    p.w = {{1}};
    p.m = p.v = Dense(1, 1);
    const double gradient[] = {1, -.5, .25}, expected[] = {.9, .873289229, .839010773};
    for (int step = 0; step < 3; ++step) {
      p.g = {{gradient[step]}};
      p.record.step = step + 1;
      const Results after = run_problem(p);
      p.w = after[0], p.m = after[1], p.v = after[2];
      BOOST_TEST(std::abs(p.w(0, 0) - expected[step]) < (t == DType::f64 ? 1e-9 : 2e-7));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_first_step_moves_by_the_rate) {
  for (const DType t : sum_types()) {
    Problem p(t, 5, 0, false);
    p.w = p.m = p.v = Dense(1, 5);
    p.g = round_to(t, {{1e-4, -1, 3, 1e4, -1e-5}});
    p.record.step = 1;
    p.record.rate = 1.746928e-7;
    p.record.clip_factor = 1;
    const double r = p.record.rate;
    check_close(run_problem(p)[0], {{-r, r, -r, -r, r}}, {2e-4, 0});
  }
}

BOOST_AUTO_TEST_CASE(a_skipped_step_changes_nothing) {
  for (const bool sgd : {false, true}) {
    Problem p(DType::f32, 130, 130, true);
    p.record.skip = 1;
    p.g.data[5] = NAN;
    const Results got = run_problem(p, sgd);
    check_close(got[0], p.w, {0, 0});
    check_close(got[1], p.m, {0, 0});
    check_close(got[2], p.v, {0, 0});
    check_close(got[3], Dense(1, 130, NAN), {0, 0});
  }
}

// A scale takes the place of the clip factor.
BOOST_AUTO_TEST_CASE(sgd_with_a_scale) {
  for (const DType t : sum_types()) {
    Problem p(t, 130, 70, true);
    const Results got = run_problem(p, true, 3);
    p.record.clip_factor = 3;
    check_close(got[0], naive(p, true)[0], t);
  }
}

BOOST_AUTO_TEST_CASE(momentum_table) {
  for (const DType t : sum_types())
    for (const int64_t size : {1, 3, 17, 130, 16385, 50000})
      for (const bool skipped : {false, true}) {
        const Dense g = random_dense(1, size, t, 1), m = random_dense(1, size, t, 2);
        const Dense old = random_dense(1, size, t, 3);
        StepRecord record;
        record.clip_factor = 0.25;
        record.skip = skipped ? 1 : 0;
        const Results got = run_layouts([&](Run& run) {
          const Matrix gradient = run.input(g, t), average = run.inout(m, t);
          const Matrix direction = run.inout(old, t);
          const StepRecord* r = run.record(record);
          run.call([&](auto& b) { b.momentum(gradient, average, direction, 0.9, r); });
          run.keep(average);
          run.keep(direction);
        });
        Results want{m, old};
        for (size_t i = 0; i < size_t(size) && !skipped; ++i) {
          const double now = 0.1 * 0.25 * g.data[i];
          want[0].data[i] = 0.9 * m.data[i] + now;
          want[1].data[i] = 0.9 * want[0].data[i] + now;
        }
        BOOST_TEST_CONTEXT(name_of(t) << ", " << size << " elements") {
          for (size_t i = 0; i < 2; ++i) check_close(got[i], want[i], t);
        }
      }
}

BOOST_AUTO_TEST_CASE(normalise_table) {
  for (const DType t : sum_types())
    for (const int64_t size : {1, 17, 16385, 50000})
      for (const double factor : {1.0, 1e-39, 0.0}) {  // 1e39 is not a float
        Dense x = random_dense(1, size, t, 1);
        double sum = 0;
        for (double& value : x.data) value *= factor, sum += value * value;
        const Results got = run_layouts([&](Run& run) {
          const Matrix m = run.inout(x, t), squares = squares_of(run, m);
          run.call([&](auto& b) { b.normalise(m, squares); });
          run.keep(m);
        });
        for (double& value : x.data) value *= factor == 1 ? 1 / std::sqrt(sum) : 0;
        check_close(got[0], x, t);
      }
}

BOOST_AUTO_TEST_CASE(quadratic_table) {
  for (const DType t : dtypes())
    for (const int64_t n : {1, 2, 17, 130}) {
      const Dense x = random_dense(n, n, t, 1), square = random_dense(n, n, t, 2);
      const Results got = run_layouts([&](Run& run) {
        const Matrix m = run.inout(x, t), s = run.input(square, t);
        run.call([&](auto& b) { b.quadratic(m, s, 3, -5, 2); });
        run.keep(m);
      });
      Dense want = x;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          want(i, j) = (i == j ? 3 : 0) - 5 * x(i, j) + 2 * square(i, j);
      check_close(got[0], want, t);
    }
}

BOOST_AUTO_TEST_CASE(gradient_norm_table) {
  for (const DType t : sum_types())
    for (const int64_t size : {0, 1, 3, 17, 63, 130, 16384, 16385, 50000}) {
      const Dense g = random_dense(1, size, t, 1, -1, 2);
      double square = 0;
      for (const double x : g.data) square += x * x;
      const double norm = std::sqrt(square);
      for (const double clip : {0.0, norm * 2, norm * 0.1}) {
        const StepRecord r = norm_of(g, t, clip);
        BOOST_TEST_CONTEXT(name_of(t) << ", " << size << " elements, clip " << clip) {
          check_close({{r.gradient_norm}}, {{norm}}, {1e-13, 0});
          check_close({{r.clip_factor}}, {{clip > 0 && norm > clip ? 0.1 : 1}}, {1e-13, 0});
          BOOST_TEST(r.skip == 0);
        }
      }
    }
}

// The sums of squares of a range of the block have the same bits as those of the whole block.
BOOST_AUTO_TEST_CASE(a_range_has_the_squares_of_the_whole) {
  const int64_t size = 3 * tx::norm_block + 777;
  for (const DType t : sum_types()) {
    const Dense g = random_dense(1, size, t, 1, -1, 2);
    const Results got = run_layouts([&](Run& run) {
      const Matrix all = run.input(g, t);
      run.keep(squares_of(run, all));
      for (const int64_t first : {int64_t(0), tx::norm_block, 2 * tx::norm_block})
        run.keep(squares_of(run, all.columns(first, size - first)));
    });
    for (size_t skipped = 0; skipped < 3; ++skipped)
      for (size_t b = skipped; b < 4; ++b)
        BOOST_TEST(got[skipped + 1].data[b - skipped] == got[0].data[b]);
  }
}

BOOST_AUTO_TEST_CASE(known_clip) {
  const StepRecord r = norm_of({{3, 4}}, DType::f32, 1);
  BOOST_TEST(r.gradient_norm == 5);
  BOOST_TEST(std::abs(3 * r.clip_factor - .6) < 1e-15);
  BOOST_TEST(std::abs(4 * r.clip_factor - .8) < 1e-15);
}

BOOST_AUTO_TEST_CASE(not_a_number_skips_the_step) {
  for (const DType t : sum_types())
    for (const int64_t size : {1, 17, 50000})
      for (const int64_t at : {int64_t(0), size / 2, size - 1})
        for (const double bad : {double(NAN), double(INFINITY), -double(INFINITY)})
          for (const double clip : {0.0, 1.0}) {
            Dense g = random_dense(1, size, t, 1);
            g(0, at) = bad;
            BOOST_TEST(norm_of(g, t, clip).skip == 1);
          }
}

// The mean loss per label is compared with the limit. A non-finite loss is no spike, but skips too.
BOOST_AUTO_TEST_CASE(a_loss_over_the_limit_skips_the_step) {
  const auto record_of = [](double loss, double limit) {
    StepRecord after;
    run_layouts([&](Run& run) {
      StepRecord start;
      start.loss = loss, start.loss_scale = 0.25, start.loss_limit = limit;
      start.skip = start.spike = 77;
      StepRecord* record = run.record(start);
      const Matrix squares = squares_of(run, run.input(Dense{{3, 4}}, DType::f32));
      run.call([&](auto& b) { b.gradient_norm(squares, record); });
      after = run.read(record, 1)[0];
      run.keep({{double(after.skip), double(after.spike)}});
    });
    return after;
  };
  struct Case {
    double loss, limit;
    int skip, spike;
  };
  for (const Case c : {Case{8, 2, 0, 0}, Case{8.1, 2, 1, 1}, Case{1e9, 0, 0, 0}, Case{NAN, 2, 1, 0},
                       Case{INFINITY, 2, 1, 0}, Case{INFINITY, 0, 1, 0}}) {
    const StepRecord r = record_of(c.loss, c.limit);
    BOOST_TEST_CONTEXT(c.loss << " against " << c.limit) {
      BOOST_TEST(r.skip == c.skip);
      BOOST_TEST(r.spike == c.spike);
      BOOST_TEST(r.gradient_norm == 5);
    }
  }
}

// Squares that overflow or underflow float do not skip a step.
BOOST_AUTO_TEST_CASE(extreme_gradients_have_a_norm) {
  const double max = 3e38, min = 1e-40;
  const StepRecord large = norm_of(round_to(DType::f32, {{max, max}}), DType::f32, 1);
  BOOST_TEST(large.skip == 0);
  check_close({{large.gradient_norm}}, {{max * std::sqrt(2)}}, {1e-7, 0});
  const StepRecord small = norm_of(round_to(DType::f32, {{min, min}}), DType::f32, 1);
  check_close({{small.gradient_norm}}, {{min * std::sqrt(2)}}, {1e-4, 0});
}

BOOST_AUTO_TEST_SUITE_END()
