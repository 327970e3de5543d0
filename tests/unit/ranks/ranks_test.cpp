// Heartbeats, and the Communicator of the tests.
#include <boost/test/unit_test.hpp>
#include <numeric>

#include "lib/ranks/pulse.h"
#include "tests/thread_ranks.h"

using namespace tx_test;
using tx::Pulse;

namespace {

int beats_until_lost(Pulse pulse) {
  int beats = 0;
  while (pulse.beat() < 0) ++beats;
  return beats;
}

// What a rank found. The main thread checks it, since Boost's checks are not thread-safe.
struct Found {
  std::vector<int> gathered, exchanged, part;
  int broadcast = 0;
};

Found meet(tx::Communicator& ranks) {
  Found found;
  const int me = ranks.rank(), count = ranks.size();
  found.broadcast = me + 7;
  ranks.broadcast(&found.broadcast, sizeof(int));
  found.gathered.resize(size_t(count));
  ranks.gather_all(&me, sizeof me, found.gathered.data());
  // Rank r gets r numbers of each.
  std::vector<int> out;
  std::vector<size_t> out_bytes, in_bytes;
  for (int r = 0; r < count; ++r) {
    out.insert(out.end(), size_t(r), 10 * me + r);
    out_bytes.push_back(size_t(r) * sizeof(int));
    in_bytes.push_back(size_t(me) * sizeof(int));
  }
  found.exchanged.resize(size_t(me * count));
  ranks.exchange(out.data(), out_bytes, found.exchanged.data(), in_bytes);
  const auto part = ranks.split(me % 2);
  found.part.resize(size_t(part->size()), -1);
  part->gather_all(&me, sizeof me, found.part.data());
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pulse)

BOOST_AUTO_TEST_CASE(rank_0_listens_to_all_and_all_to_rank_0) {
  BOOST_TEST((Pulse(0, 4).peers() == std::vector<int>{1, 2, 3}));
  BOOST_TEST((Pulse(3, 4).peers() == std::vector<int>{0}));
}

BOOST_AUTO_TEST_CASE(a_silent_rank_is_named) {
  Pulse pulse(0, 4);
  for (int beat = 1; beat <= Pulse::patience; ++beat) {
    pulse.heard(1);
    pulse.heard(3);
    BOOST_TEST(pulse.beat() == -1);
  }
  BOOST_TEST(pulse.beat() == 2);
}

BOOST_AUTO_TEST_CASE(a_heartbeat_restarts_the_wait) {
  Pulse pulse(1, 2);
  for (int beat = 0; beat < Pulse::patience; ++beat) BOOST_TEST(pulse.beat() == -1);
  pulse.heard(0);
  BOOST_TEST(beats_until_lost(pulse) == Pulse::patience);
}

BOOST_AUTO_TEST_CASE(the_lowest_other_rank_reports_first) {
  BOOST_TEST(beats_until_lost(Pulse(1, 9)) == Pulse::patience);
  BOOST_TEST(beats_until_lost(Pulse(2, 9)) == Pulse::patience + 2);
  BOOST_TEST(beats_until_lost(Pulse(8, 9)) == Pulse::patience + 8);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(thread_ranks)

BOOST_AUTO_TEST_CASE(bytes_arrive) {
  for (const int count : {1, 2, 3, 5}) {
    std::vector<Found> found(static_cast<size_t>(count));
    on_ranks(count, [&](tx::Communicator& ranks) { found[size_t(ranks.rank())] = meet(ranks); });
    std::vector<int> all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    for (int me = 0; me < count; ++me) {
      const Found& f = found[size_t(me)];
      BOOST_TEST(f.broadcast == 7);
      BOOST_TEST(f.gathered == all, boost::test_tools::per_element());
      std::vector<int> exchanged, part;
      for (int r = 0; r < count; ++r) exchanged.insert(exchanged.end(), size_t(me), 10 * r + me);
      for (int r = me % 2; r < count; r += 2) part.push_back(r);
      BOOST_TEST(f.exchanged == exchanged, boost::test_tools::per_element());
      BOOST_TEST(f.part == part, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(an_error_of_a_rank_arrives) {
  BOOST_CHECK_THROW(on_ranks(2,
                             [](tx::Communicator& ranks) {
                               if (ranks.rank() == 1) throw tx::Error("no");
                             }),
                    tx::Error);
}

BOOST_AUTO_TEST_SUITE_END()
