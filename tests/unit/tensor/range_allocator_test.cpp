// RangeAllocator against a plain list of the owner of each place.
#include "lib/tensor/range_allocator.h"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "lib/base/philox.h"

using tx::RangeAllocator;

BOOST_AUTO_TEST_SUITE(regions)

BOOST_AUTO_TEST_CASE(gaps_join) {
  RangeAllocator r(10);
  BOOST_TEST(r.take(4) == 0);
  BOOST_TEST(r.take(3) == 4);
  BOOST_TEST(r.take(4) == -1);
  r.give(1, 2);
  BOOST_TEST(r.take(3) == 7);
  BOOST_TEST(r.take(3) == -1);
  r.give(0, 1);
  r.give(3, 1);
  BOOST_TEST(r.take(4) == 0);
  BOOST_TEST(r.take(1) == -1);
  BOOST_CHECK_THROW(r.give(8, 3), tx::Bug);
  r.give(4, 3);
  BOOST_CHECK_THROW(r.give(5, 1), tx::Bug);
  BOOST_CHECK_THROW(r.give(3, 2), tx::Bug);
}

BOOST_AUTO_TEST_CASE(random_comings_and_goings) {
  constexpr int64_t size = 200;
  RangeAllocator r(size);
  std::vector<int> owner(size, 0);
  struct Held {
    int64_t first, count;
  };
  std::vector<Held> held;
  tx::PhiloxStream random(1, 2);
  int refused = 0;
  for (int round = 1; round < 4000; ++round) {
    if (random.next() % 2 && !held.empty()) {
      const size_t i = random.next() % held.size();
      for (int64_t p = 0; p < held[i].count; ++p) owner[size_t(held[i].first + p)] = 0;
      r.give(held[i].first, held[i].count);
      held.erase(held.begin() + long(i));
      continue;
    }
    const int64_t count = 1 + random.next() % 40, first = r.take(count);
    int64_t gap = 0, largest = 0;
    for (const int o : owner) largest = std::max(largest, gap = o ? 0 : gap + 1);
    BOOST_TEST((first >= 0) == (largest >= count));
    if (first < 0) {
      ++refused;
      continue;
    }
    for (int64_t p = first; p < first + count; ++p) {
      BOOST_TEST(owner[size_t(p)] == 0);
      owner[size_t(p)] = round;
    }
    held.push_back({first, count});
  }
  BOOST_TEST(refused > 10);
}

BOOST_AUTO_TEST_SUITE_END()
