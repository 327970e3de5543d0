// What a step costs, from shapes alone.
#include "lib/train/plan.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/base/error.h"

using namespace tx;

BOOST_AUTO_TEST_CASE(product_flops_of_a_step) {
  ModelConfig c;
  c.set_vocabularies(37000);
  c.resolve();
  BOOST_TEST(std::abs(step_flops(c, 25000, 25000) / 9.44763e12 - 1) < 1e-6);
  c.d_model = 1024;
  c.d_ff = 4096;
  c.heads = 16;
  c.d_k = c.d_v = 0;
  c.resolve();
  BOOST_TEST(std::abs(step_flops(c, 25000, 25000) / 3.21073e13 - 1) < 2e-6);
}

BOOST_AUTO_TEST_CASE(flops_grow_with_each_side) {
  ModelConfig c;
  c.set_vocabularies(100);
  c.set_layers(1);
  c.d_model = 4;
  c.d_ff = 8;
  c.heads = 2;
  c.d_k = 3;
  c.d_v = 5;
  c.resolve();
  // A source token: 4 x (2 x 6 + 2 x 10) of attention, 2 x 4 x 8, and 4 x (6 + 10) of the memory's
  // keys and values; a target token: the first two, 4 x (6 + 10) of the queries and what follows,
  // and 100 x 4 of the vocabulary. 6 operations a weight.
  BOOST_TEST(step_flops(c, 1, 0) == 6.0 * (128 + 64 + 64));
  BOOST_TEST(step_flops(c, 0, 1) == 6.0 * (128 + 64 + 64 + 400));
  BOOST_TEST(step_flops(c, 7, 3) == 7 * step_flops(c, 1, 0) + 3 * step_flops(c, 0, 1));
}
