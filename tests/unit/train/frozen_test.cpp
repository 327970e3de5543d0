// Steps that change only the rows of new tokens.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

BOOST_FIXTURE_TEST_SUITE(frozen_rows, TinyText)

// Three steps with weight decay: old rows keep their bits, and all others move.
BOOST_AUTO_TEST_CASE(steps_leave_old_rows_as_they_are) {
  const int words = int(this->words->size());
  for (const Optimizer optimizer : {Optimizer::adam, Optimizer::sgd, Optimizer::muon}) {
    TrainOptions o = plain_options();
    o.optimizer = optimizer;
    o.weight_decay = 0.1;
    o.clip_norm = 1;
    for (const DType dtype : {DType::f32, DType::bf16}) {
      TinyModel m(o, words, capacities, dtype);
      const int64_t old = words - 40;
      m.parameters.freeze({old, old});
      const std::vector<double> before = m.weights();
      for (int step = 1; step <= 3; ++step) m.stepper.step(batches, step, 0.01, 0);
      const std::vector<double> after = m.weights();
      const ParameterEntry& e = m.parameters.table().front();
      BOOST_REQUIRE(e.tokens == 1);
      const auto first = [&](const std::vector<double>& w, int64_t row) {
        return w.begin() + e.offset + row * e.cols;
      };
      BOOST_TEST(std::equal(first(before, 0), first(before, old), first(after, 0)));
      for (int64_t row = old; row < words; ++row)
        BOOST_TEST(!std::equal(first(before, row), first(before, row + 1), first(after, row)));
      const int64_t layers = e.offset + e.padded_rows * e.cols;
      BOOST_TEST(!std::equal(before.begin() + layers, before.end(), after.begin() + layers));
    }
  }
}

// The norm that is clipped is that of the gradients that are used.
BOOST_AUTO_TEST_CASE(gradients_of_frozen_rows_do_not_count) {
  const int words = int(this->words->size());
  TinyModel m(plain_options(), words, capacities), whole(plain_options(), words, capacities);
  m.parameters.freeze({words, words});
  const double norm = m.stepper.step(batches, 1, 0.01, 0).gradient_norm;
  BOOST_TEST(norm < whole.stepper.step(batches, 1, 0.01, 0).gradient_norm);
  double sum = 0;
  for (const double g : to_host(m.backend, m.parameters.gradients())) sum += g * g;
  BOOST_TEST(std::sqrt(sum) == norm, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_SUITE_END()
