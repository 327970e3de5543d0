// Muon against its definition, in double: two steps of a model, and what it makes of singular
// values.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

namespace {

using Values = std::vector<double>;
struct Dense {
  int64_t rows, cols;
  Values at;
  double operator()(int64_t i, int64_t j) const { return at[size_t(i * cols + j)]; }
};

Dense product(const Dense& a, const Dense& b) {
  Dense c{a.rows, b.cols, Values(size_t(a.rows * b.cols))};
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.cols; ++j)
      for (int64_t k = 0; k < a.cols; ++k) c.at[size_t(i * b.cols + j)] += a(i, k) * b(k, j);
  return c;
}
Dense transposed(const Dense& x) {
  Dense t{x.cols, x.rows, Values(x.at.size())};
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = 0; j < x.cols; ++j) t.at[size_t(j * x.rows + i)] = x(i, j);
  return t;
}

// a X + b (X X^T) X + c (X X^T)^2 X, five times, from X / |X|.
Dense orthogonal(Dense x) {
  double square = 0;
  for (const double v : x.at) square += v * v;
  for (double& v : x.at) v /= std::sqrt(square);
  for (int i = 0; i < 5; ++i) {
    const Dense once = product(product(x, transposed(x)), x);
    const Dense twice = product(product(x, transposed(x)), once);
    for (size_t k = 0; k < x.at.size(); ++k)
      x.at[k] = 3.4445 * x.at[k] - 4.7750 * once.at[k] + 2.0315 * twice.at[k];
  }
  return x;
}

bool of_a_layer(const ParameterEntry& e) {
  return !e.vector && e.name.find(".layers.") != std::string::npos;
}

struct Course : TinyText {
  TrainOptions options = plain_options();
  Course() {
    options.optimizer = Optimizer::muon;
    options.momentum = 0.9;
    options.weight_decay = 0.1;
    options.clip_norm = 0.5;
  }
};

double largest_difference(const Values& a, const Values& b) {
  double max = 0;
  for (size_t i = 0; i < a.size(); ++i) max = std::max(max, std::abs(a[i] - b[i]));
  return max;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(muon, Course)

BOOST_AUTO_TEST_CASE(two_steps_are_those_of_the_definition) {
  const double rate = 0.01;
  TinyModel m(options, int(words->size()), capacities, DType::f64);
  std::map<std::string, Values> momenta;
  for (int64_t number = 1; number <= 2; ++number) {
    std::map<std::string, Dense> before;
    for (const ParameterEntry& e : m.parameters.table())
      before[e.name] = {e.rows, e.cols, to_host(m.backend, m.parameters.fp32_weights(e))};
    const StepRecord record = m.stepper.step(batches, number, rate, 0);
    BOOST_TEST(record.clip_factor < 1);
    for (const ParameterEntry& e : m.parameters.table()) {
      const Values now = to_host(m.backend, m.parameters.fp32_weights(e));
      if (!of_a_layer(e)) {  // Adam's first step moves a weight without decay by the rate
        if (number == 1 && e.vector)
          for (size_t i = 0; i < now.size(); ++i)
            BOOST_TEST(std::abs(now[i] - before[e.name].at[i]) < rate * 1.0001, e.name);
        continue;
      }
      const Values g = to_host(m.backend, m.parameters.entry_of(m.parameters.gradients(), e));
      Values& momentum = momenta.try_emplace(e.name, g.size()).first->second;
      Dense direction{e.rows, e.cols, g};
      for (size_t i = 0; i < g.size(); ++i) {
        const double part = 0.1 * record.clip_factor * g[i];
        momentum[i] = 0.9 * momentum[i] + part;
        direction.at[i] = 0.9 * momentum[i] + part;
      }
      const Dense move = orthogonal(direction);
      const double scale = 0.2 * std::sqrt(double(std::max(e.rows, e.cols)));
      Values want = before[e.name].at;
      for (size_t i = 0; i < want.size(); ++i)
        want[i] -= rate * (scale * move.at[i] + 0.1 * want[i]);
      BOOST_TEST(largest_difference(now, want) < 1e-12, e.name);
    }
  }
}

// The step of a matrix of full rank has singular values near 1, whatever those of its gradient: its
// square norm is between 0.68^2 and 1.14^2 of the rank.
BOOST_AUTO_TEST_CASE(steps_are_nearly_orthogonal) {
  options.weight_decay = 0;
  for (const auto& [clip, type] :
       {std::pair(0.5, DType::f32), {1e-6, DType::f32}, {0.5, DType::bf16}}) {
    options.clip_norm = clip;
    TinyModel m(options, int(words->size()), capacities, type);
    std::map<std::string, Values> before;
    for (const ParameterEntry& e : m.parameters.table())
      before[e.name] = to_host(m.backend, m.parameters.fp32_weights(e));
    m.stepper.step(batches, 1, 1, 0);
    for (const ParameterEntry& e : m.parameters.table()) {
      if (!of_a_layer(e)) continue;
      const Values now = to_host(m.backend, m.parameters.fp32_weights(e));
      double square = 0;
      for (size_t i = 0; i < now.size(); ++i) square += std::pow(now[i] - before[e.name][i], 2);
      const double rank = double(std::min(e.rows, e.cols));
      square /= 0.04 * double(std::max(e.rows, e.cols)) * rank;
      BOOST_TEST((square > 0.3 && square < 1.3), e.name << ": " << square);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_skipped_step_changes_nothing) {
  TinyModel m(options, int(words->size()), capacities);
  const Values before = m.weights();
  const StepRecord record = m.stepper.step(batches, 1, 0.01, 1e-9);
  BOOST_TEST((record.skip && record.spike));
  BOOST_TEST((m.weights() == before));
  for (const double x : to_host(m.backend, m.parameters.moment1())) BOOST_REQUIRE(x == 0);
  m.stepper.release(record);
  BOOST_TEST((m.weights() != before));
}

BOOST_AUTO_TEST_SUITE_END()
