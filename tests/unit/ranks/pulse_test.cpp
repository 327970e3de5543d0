// Who is taken for lost, and when.
#include "lib/ranks/pulse.h"

#include <boost/test/unit_test.hpp>

using namespace tx;

namespace {

int beats_until_lost(Pulse pulse) {
  int beats = 0;
  while (pulse.beat() < 0) ++beats;
  return beats;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pulse)

BOOST_AUTO_TEST_CASE(rank_0_listens_to_all_and_all_to_rank_0) {
  BOOST_TEST((Pulse(0, 4).peers() == std::vector<int>{1, 2, 3}));
  BOOST_TEST((Pulse(3, 4).peers() == std::vector<int>{0}));
}

BOOST_AUTO_TEST_CASE(the_rank_that_is_not_heard_of_is_named) {
  Pulse pulse(0, 4);
  for (int beat = 1; beat <= Pulse::patience; ++beat) {
    pulse.heard(1);
    pulse.heard(3);
    BOOST_TEST(pulse.beat() == -1);
  }
  BOOST_TEST(pulse.beat() == 2);
}

BOOST_AUTO_TEST_CASE(a_sign_begins_the_wait_anew) {
  Pulse pulse(1, 2);
  for (int beat = 0; beat < Pulse::patience; ++beat) BOOST_TEST(pulse.beat() == -1);
  pulse.heard(0);
  BOOST_TEST(beats_until_lost(pulse) == Pulse::patience);
}

BOOST_AUTO_TEST_CASE(the_lowest_other_rank_speaks_first) {
  BOOST_TEST(beats_until_lost(Pulse(1, 9)) == Pulse::patience);
  BOOST_TEST(beats_until_lost(Pulse(2, 9)) == Pulse::patience + 2);
  BOOST_TEST(beats_until_lost(Pulse(8, 9)) == Pulse::patience + 8);
}

BOOST_AUTO_TEST_SUITE_END()
