#include "lib/data/order.h"

#include <boost/test/unit_test.hpp>

using namespace tx;

BOOST_AUTO_TEST_SUITE(permutation)

BOOST_AUTO_TEST_CASE(every_place_once) {
  for (const uint64_t size : {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 65536, 70001}) {
    const Permutation order(size, 9, 0);
    std::vector<bool> seen(size);
    for (uint64_t i = 0; i < size; ++i) {
      const uint64_t value = order(i);
      BOOST_REQUIRE(value < size);
      BOOST_REQUIRE(!seen[value]);
      seen[value] = true;
    }
  }
}

BOOST_AUTO_TEST_CASE(seed_and_epoch_change_the_order) {
  constexpr uint64_t size = 10000;
  const Permutation order(size, 1, 0);
  const auto same = [&](const Permutation& other) {
    int count = 0;
    for (uint64_t i = 0; i < size; ++i) count += order(i) == other(i);
    return count;
  };
  BOOST_TEST(same(Permutation(size, 1, 0)) == int(size));
  BOOST_TEST(same(Permutation(size, 1, 1)) < 12);  // about 1 by chance
  BOOST_TEST(same(Permutation(size, 2, 0)) < 12);
  BOOST_TEST(same(Permutation(size, uint64_t(1) << 33 | 1, 0)) < 12);
}

// The new place of a pair must not depend on that of its neighbour: their distance falls into each
// tenth of the range equally often (chi-squared with 9 degrees of freedom; 27.9 is p = 0.001).
BOOST_AUTO_TEST_CASE(neighbours_are_scattered) {
  constexpr uint64_t size = 50000;
  const Permutation order(size, 3, 4);
  double count[10] = {}, chi = 0;
  for (uint64_t i = 0; i + 1 < size; ++i) {
    ++count[(order(i + 1) + size - order(i)) % size * 10 / size];
  }
  for (const double c : count) chi += (c - size / 10.0) * (c - size / 10.0) / (size / 10.0);
  BOOST_TEST(chi < 27.9);
}

BOOST_AUTO_TEST_SUITE_END()
