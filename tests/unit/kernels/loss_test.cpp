// cross_entropy: label smoothing, padding columns, ignored rows, gradient.
#include <array>
#include <numeric>

#include "tests/unit/kernels/checker.h"

using namespace tx_test;

namespace {

struct Problem {
  DType t;
  int64_t rows, vocabulary, padding;
  double smoothing;
  Dense logits;
  std::vector<int32_t> labels;
  double loss_scale = 0.375;

  Problem(DType type, int64_t n, int64_t v, int64_t pad, double eps)
      : t(type),
        rows(n),
        vocabulary(v),
        padding(pad),
        smoothing(eps),
        logits(random_dense(n, v + pad, t, 1, -4, 4)),
        labels(random_ids(n, v, 2)) {
    for (size_t i = 1; i < labels.size(); i += 3) labels[i] = -1;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = v; j < v + pad; ++j) logits(i, j) = NAN;  // padding: never read
  }
};

// loss, nll, correct, labels as the record holds them, and the gradient.
struct Outcome {
  double sums[4] = {100, 200, 3, 5};
  Dense gradient;
};

Outcome naive(const Problem& p) {
  Outcome out;
  out.gradient = Dense(p.rows, p.vocabulary + p.padding);
  const double others = p.vocabulary > 1 ? p.smoothing / double(p.vocabulary - 1) : 0;
  for (int64_t i = 0; i < p.rows; ++i) {
    const int32_t label = p.labels[size_t(i)];
    if (label < 0) continue;
    double max = -INFINITY, sum = 0;
    for (int64_t j = 0; j < p.vocabulary; ++j) max = std::max(max, p.logits(i, j));
    for (int64_t j = 0; j < p.vocabulary; ++j) sum += std::exp(p.logits(i, j) - max);
    for (int64_t j = 0; j < p.vocabulary; ++j) {
      const double log_p = p.logits(i, j) - max - std::log(sum);
      const double target = j == label ? 1 - p.smoothing : others;
      if (target > 0) out.sums[0] -= target * log_p;
      if (j == label) out.sums[1] -= log_p;
      out.gradient(i, j) = p.loss_scale * (std::exp(log_p) - target);
    }
    out.sums[2] += p.logits(i, label) == max;
    out.sums[3] += 1;
  }
  return out;
}

// The record's sums, then the logits or their gradient.
Results run_problem(const Problem& p, bool gradient) {
  return run_layouts([&](Run& run) {
    StepRecord start;
    start.loss = 100, start.nll = 200, start.correct = 3, start.labels = 5;
    start.loss_scale = p.loss_scale;
    StepRecord* record = run.record(start);
    const Matrix logits = gradient ? run.inout(p.logits, p.t) : run.input(p.logits, p.t);
    const int32_t* labels = run.array(p.labels);
    run.call([&](auto& b) {
      b.cross_entropy(logits, labels, p.vocabulary, p.smoothing, gradient, record);
    });
    const StepRecord r = run.read(record, 1)[0];
    run.keep({{r.loss, r.nll, double(r.correct), double(r.labels)}});
    run.keep(logits);
  });
}

// Relative errors of a probability: 2e-7 by exp and 5e-7 by its argument, which is at most 8.
void check(const Problem& p) {
  const Outcome want = naive(p);
  Tolerance sums{0, 0, double(p.rows)};
  sums.of_scale = p.t == DType::f64 ? 1e-13 : 1e-6;
  for (const bool gradient : {false, true}) {
    const Results got = run_problem(p, gradient);
    for (int64_t k = 0; k < 4; ++k)
      check_close({{got[0](0, k)}}, {{want.sums[k]}}, k < 2 ? sums : Tolerance{0, 0});
    if (!gradient) continue;
    Tolerance limit = tolerance(p.t);
    limit.size = p.loss_scale;
    check_close(got[1], want.gradient, limit);
  }
}

Problem problem(const Dense& logits, double smoothing) {
  Problem p(DType::f32, logits.rows, logits.cols, 0, smoothing);
  p.logits = logits;
  p.labels.assign(size_t(logits.rows), 0);
  p.loss_scale = 1;
  return p;
}

double loss_of(const Problem& p) { return run_problem(p, false)[0](0, 0) - 100; }
double nll_of(const Problem& p) { return run_problem(p, false)[0](0, 1) - 200; }

}  // namespace

BOOST_AUTO_TEST_SUITE(loss)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const int64_t rows : odd_sizes())
      for (const int64_t vocabulary : {1, 3, 17, 63, 130, 1000})
        for (const int64_t padding : {0, 1, 30})
          for (const double smoothing : {0.0, 0.1}) {
            BOOST_TEST_CONTEXT(name_of(t) << ", " << rows << " rows, V " << vocabulary << " + "
                                          << padding << ", smoothing " << smoothing)
            check(Problem(t, rows, vocabulary, padding, vocabulary > 1 ? smoothing : 0));
          }
}

BOOST_AUTO_TEST_CASE(no_rows) { check(Problem(DType::f32, 0, 17, 3, 0.1)); }

BOOST_AUTO_TEST_CASE(known_values) {
  const Problem p = problem({{2, 1, .5, -.5, 0}}, 0.1);
  BOOST_TEST(std::abs(loss_of(p) - .767459) < 1e-6);
  BOOST_TEST(std::abs(nll_of(p) - .592459) < 1e-6);
  check_close(run_problem(p, true)[1], {{-.347034, .178425, .098383, .020390, .049836}},
              {0, 1e-6, 1});
}

// Logits that give exactly the target distribution: one large term and thousands of equal small
// ones, whose roundings in float do not cancel.
BOOST_AUTO_TEST_CASE(known_smallest_losses) {
  const std::vector<std::pair<int64_t, double>> known = {
      {5, .463712}, {13, .573574}, {8000, 1.223790}, {37000, 1.376948}};
  for (const auto& [v, loss] : known) {
    Dense logits(1, v, std::log(0.1 / double(v - 1)));
    logits(0, 0) = std::log(0.9);
    const Problem p = problem(round_to(DType::f32, logits), 0.1);
    BOOST_TEST(std::abs(loss_of(p) - loss) < 1e-5, "V " << v << ": " << loss_of(p));
    check_close(run_problem(p, true)[1], Dense(1, v), {0, 1e-5, 1});
  }
}

BOOST_AUTO_TEST_CASE(known_losses_of_a_uniform_model) {
  for (const double offset : {0.0, 7.0, -1000.0, 3e4})
    for (const double smoothing : {0.0, 0.1, 0.5})
      for (const auto& [v, loss] : {std::pair(13, 2.564949), std::pair(37000, 10.518673)}) {
        const Problem p = problem(Dense(1, v, offset), smoothing);
        BOOST_TEST(std::abs(loss_of(p) - loss) < 2e-6, "V " << v << ": " << loss_of(p));
        BOOST_TEST(std::abs(nll_of(p) - loss) < 2e-6);
      }
}

BOOST_AUTO_TEST_CASE(known_target_distribution, *needs_f64()) {
  Problem p(DType::f64, 1, 37000, 88, 0.1);
  p.logits = Dense(1, 37088);
  p.loss_scale = 1;
  const Dense g = run_problem(p, true)[1];
  double sum = 0;
  for (int64_t j = 0; j < 37088; ++j) {
    const double target = (j < 37000 ? 1.0 / 37000 : 0) - g(0, j);
    sum += target;
    const double want = j == p.labels[0] ? 0.9 : j < 37000 ? 2.702776e-6 : 0;
    if (std::abs(target - want) > 1e-12) BOOST_TEST(target == want, "column " << j);
  }
  BOOST_TEST(std::abs(sum - 1) < 1e-12);
}

BOOST_AUTO_TEST_CASE(gradient_rows_sum_to_nothing) {
  const Problem p(DType::f32, 17, 1000, 24, 0.1);
  const Dense g = run_problem(p, true)[1];
  for (int64_t i = 0; i < p.rows; ++i) {
    const auto row = g.data.begin() + i * g.cols;
    BOOST_TEST(std::abs(std::accumulate(row, row + g.cols, 0.0)) < 1e-6 * p.loss_scale);
  }
}

BOOST_AUTO_TEST_CASE(gradient_agrees_with_differences, *needs_f64()) {
  const Problem p(DType::f64, 3, 17, 3, 0.1);
  const Dense g = run_problem(p, true)[1];
  Dense want(p.rows, 20);
  for (int64_t i = 0; i < p.rows; ++i)
    for (int64_t j = 0; j < 17; ++j) {
      Problem up = p, down = p;
      up.logits(i, j) += 1e-4;
      down.logits(i, j) -= 1e-4;
      want(i, j) = p.loss_scale * (loss_of(up) - loss_of(down)) / 2e-4;
    }
  check_close(g, want, {0, 1e-8, 1});
}

BOOST_AUTO_TEST_CASE(large_logits_do_not_overflow) {
  check(problem({{1000, 999}, {-1000, 1000}, {1000, 1000}, {-999, -1000}}, 0.1));
  const Problem p = problem({{1000, 999}}, 0);
  check_close(run_problem(p, true)[1], {{.731059 - 1, .268941}}, {0, 1e-6, 1});
}

// A logit of minus infinity: no effect on the loss without smoothing, an infinite loss with it.
BOOST_AUTO_TEST_CASE(infinities_and_nan) {
  check(problem({{1, -INFINITY, 2}, {-INFINITY, 0, 0}}, 0));
  check(problem({{1, -INFINITY, 2}}, 0.1));
  for (const double bad : {double(INFINITY), double(NAN)}) {
    const Problem p = problem({{0, 1, bad, 2, 3}, {0, 1, 2, 3, 4}}, 0.1);
    BOOST_TEST(!std::isfinite(loss_of(p)));
    const Dense g = run_problem(p, true)[1];
    BOOST_TEST(!std::isfinite(g(0, 0)));
    BOOST_TEST(std::isfinite(g(1, 0)));
  }
}

BOOST_AUTO_TEST_CASE(rows_do_not_depend_on_other_rows) {
  for (const DType t : dtypes()) {
    const Problem p(t, 63, 1000, 3, 0.1);
    check_rows_alone(p.rows, [&](Run& run, int64_t first, int64_t count) {
      const Matrix logits = run.inout(p.logits.slice(first, count), t);
      const int32_t* labels = run.array(part_of(p.labels, first, count));
      StepRecord* record = run.record({});
      run.call([&](auto& b) { b.cross_entropy(logits, labels, 1000, 0.1, true, record); });
      run.keep(logits);
    });
  }
}

BOOST_AUTO_TEST_CASE(the_sums_of_two_records) {
  StepRecord from, to;
  from.loss = 1, from.nll = 2, from.correct = 3, from.labels = 4, from.guided = 5;
  from.guided_rows = 6, from.rate = 7, from.step = 8;
  to.loss = 10, to.nll = 20, to.correct = 30, to.labels = 40, to.guided = 50;
  to.guided_rows = 60, to.rate = 0.5, to.step = 9;
  const Results found = run_layouts([&](Run& run) {
    const StepRecord* a = run.array(std::vector<StepRecord>{from});
    StepRecord* b = run.record(to);
    run.call([&](auto& backend) { backend.add_sums(a, b); });
    const StepRecord r = run.read(b, 1)[0];
    run.keep({{r.loss, r.nll, double(r.correct), double(r.labels), r.guided, double(r.guided_rows),
               r.rate, double(r.step)}});
  });
  BOOST_TEST((found[0].data == std::vector<double>{11, 22, 33, 44, 55, 66, 0.5, 9}));
}

// Two passes: the sums, and the gradient against differences of the loss in double.
BOOST_AUTO_TEST_CASE(consistency) {
  for (const DType t : dtypes())
    for (const bool symmetric : {false, true})
      for (const int64_t vocabulary : {2, 17, 130}) {
        Problem p(t, 12, vocabulary, 5, 0.1);
        const int64_t pairs = p.rows / 2;
        p.labels.resize(size_t(pairs));
        const double weight = 2.5;
        // loss, nll and divergence of pair i
        const auto losses = [&](const Dense& logits, int64_t i) {
          const auto log_p = [&](int64_t row, int64_t j) {
            double sum = 0;
            for (int64_t k = 0; k < vocabulary; ++k) sum += std::exp(logits(row, k));
            return logits(row, j) - std::log(sum);
          };
          const int32_t label = p.labels[size_t(i)];
          std::array<double, 3> out{};
          double second = 0;
          for (int64_t j = 0; j < vocabulary; ++j) {
            const double target =
                j == label ? 1 - p.smoothing : p.smoothing / double(vocabulary - 1);
            const double x = log_p(i, j), y = log_p(pairs + i, j);
            out[0] -= target * x;
            second -= target * y;
            out[1] -= j == label ? x : 0;
            out[2] += std::exp(x) * (x - y);
            if (symmetric) out[2] += std::exp(y) * (y - x);
          }
          if (symmetric) out[2] /= 2;
          return std::pair(out, out[0] + weight * out[2] + (symmetric ? second : 0));
        };
        std::array<double, 4> sums{};  // and labels
        Dense gradient(p.rows, vocabulary + p.padding);
        Dense logits = p.logits;
        for (int64_t i = 0; i < pairs; ++i) {
          if (p.labels[size_t(i)] < 0) continue;
          const auto [own, total] = losses(logits, i);
          for (size_t k = 0; k < 3; ++k) sums[k] += own[k];
          sums[3] += 1;
          for (const int64_t row : {i, pairs + i})
            for (int64_t j = 0; j < vocabulary; ++j) {
              constexpr double h = 1e-5;
              double& x = logits(row, j);
              const double before = x;
              x = before + h;
              const double above = losses(logits, i).second;
              x = before - h;
              gradient(row, j) = p.loss_scale * (above - losses(logits, i).second) / (2 * h);
              x = before;
            }
        }
        const Results got = run_layouts([&](Run& run) {
          StepRecord start;
          start.loss_scale = p.loss_scale;
          StepRecord* record = run.record(start);
          const Matrix logits = run.inout(p.logits, t);
          const int32_t* labels = run.array(p.labels);
          run.call([&](auto& b) {
            b.consistency_loss(logits, labels, vocabulary, p.smoothing, {weight, symmetric},
                               record);
          });
          const StepRecord r = run.read(record, 1)[0];
          run.keep({{r.loss, r.nll, r.consistency, double(r.labels)}});
          run.keep(logits);
        });
        BOOST_TEST_CONTEXT(name_of(t) << ", V " << vocabulary << (symmetric ? ", symmetric" : "")) {
          for (int64_t k = 0; k < 4; ++k)
            BOOST_TEST(std::abs(got[0](0, k) - sums[size_t(k)]) <= 3e-6 * (1 + sums[size_t(k)]));
          Tolerance limit = tolerance(t);
          limit.size = 10 * p.loss_scale * (1 + weight);
          if (t == DType::f64) limit.of_scale = 1e-9;  // of the differences
          check_close(got[1], gradient, limit);
        }
      }
}

BOOST_AUTO_TEST_SUITE_END()
