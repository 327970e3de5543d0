// The exponential of the CPU loops (kernels/cpu/simd.h), which no kernel shows by itself.
#include <boost/test/unit_test.hpp>

#include "kernels/cpu/simd.h"
#include "tests/unit/kernels/dense.h"

namespace {

// As the kernels run it: in this machine's best instruction set.
TX_CLONES void exponentials(const float* x, float* y, int count) {
  for (int i = 0; i < count; ++i) y[i] = tx::fast_exp(x[i]);
}

float exponential_of(float x) {
  float y;
  exponentials(&x, &y, 1);
  return y;
}

// The largest relative error over every 251st float from `first` to `last` (of one sign).
double worst_error(float first, float last) {
  uint32_t from, to;
  std::memcpy(&from, &first, 4);
  std::memcpy(&to, &last, 4);
  constexpr int count = 4096;
  float x[count], y[count];
  double worst = 0;
  while (from <= to) {
    int filled = 0;
    for (; filled < count && from <= to; ++filled, from += 251) std::memcpy(x + filled, &from, 4);
    exponentials(x, y, filled);
    for (int i = 0; i < filled; ++i)
      worst = std::max(worst, std::abs(double(y[i]) / std::exp(double(x[i])) - 1));
  }
  return worst;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exponential)

BOOST_AUTO_TEST_CASE(relative_error_over_the_range) {
  BOOST_TEST(worst_error(0.0f, 88.0f) < 1.2e-7);
  BOOST_TEST(worst_error(-0.0f, -87.0f) < 1.2e-7);
}

BOOST_AUTO_TEST_CASE(ends_of_the_range) {
  BOOST_TEST(exponential_of(0) == 1);
  BOOST_TEST(exponential_of(-87.0f) > 0);
  for (const float x : {-87.00001f, -88.0f, -1000.0f, -3e38f, -INFINITY})
    BOOST_TEST(exponential_of(x) == 0);
  for (const float x : {88.00001f, 1000.0f, 3e38f, INFINITY})
    BOOST_TEST(exponential_of(x) == exponential_of(88.0f));
  BOOST_TEST(std::isnan(exponential_of(NAN)));
}

BOOST_AUTO_TEST_SUITE_END()
