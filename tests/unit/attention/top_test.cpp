#include "lib/attention/top.h"

#include <boost/test/unit_test.hpp>

using namespace tx;

BOOST_AUTO_TEST_CASE(the_largest_of_each_row) {
  const AttentionMap map{2, 4, {0.1f, 0.4f, 0.1f, 0.4f, 1, 0, 0, 0}};
  const TopEntries top = top_of_rows(map, 3);
  BOOST_TEST(top.rows == 2);
  BOOST_TEST(top.columns == 3);
  BOOST_TEST(top.indices == (std::vector<int32_t>{1, 3, 0, 0, 1, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(top.values == (std::vector<float>{0.4f, 0.4f, 0.1f, 1, 0, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(top_of_rows(map, 9).columns == 4);
}
