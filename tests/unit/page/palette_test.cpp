#include "lib/page/palette.h"

#include <boost/test/unit_test.hpp>
#include <set>

using namespace tx;

BOOST_AUTO_TEST_CASE(known_colours) {
  BOOST_TEST(oklch_colour(0, 0, 0) == "#000000");
  BOOST_TEST(oklch_colour(1, 0, 0) == "#ffffff");
  // sRGB's red and blue in OKLCh (Ottosson 2020, to the precision given there)
  BOOST_TEST(oklch_colour(0.62796, 0.25768, 29.234) == "#ff0000");
  BOOST_TEST(oklch_colour(0.45201, 0.31321, 264.052) == "#0000ff");
}

BOOST_AUTO_TEST_CASE(heads_have_colours_of_their_own) {
  std::set<std::string> colours;
  for (int i = 0; i < 24; ++i) colours.insert(distinct_colour(i));
  BOOST_TEST(colours.size() == 24U);
}
