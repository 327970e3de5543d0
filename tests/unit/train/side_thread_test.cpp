// Work on a thread beside: no more than is allowed, in order, and what stop() tells.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "lib/train/ranks/overlap.h"

using namespace tx;

namespace {

struct Calls {
  std::mutex mutex;
  std::vector<size_t> made;
  void add(size_t i) {
    const std::lock_guard lock(mutex);
    made.push_back(i);
  }
  void wait_for(size_t count) {
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      const std::lock_guard lock(mutex);
      if (made.size() >= count) return;
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(beside)

BOOST_AUTO_TEST_CASE(what_is_allowed_is_done_in_order) {
  Calls calls;
  BackgroundThread beside;
  beside.start([&](size_t i) { calls.add(i); });
  beside.allow(2);
  calls.wait_for(2);
  beside.allow(5);
  calls.wait_for(5);
  BOOST_TEST(beside.stop() == 5u);
  BOOST_TEST(calls.made == (std::vector<size_t>{0, 1, 2, 3, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_not_begun_is_left) {
  Calls calls;
  BackgroundThread beside;
  std::mutex gate;
  gate.lock();
  beside.start([&](size_t i) {
    calls.add(i);
    const std::lock_guard lock(gate);
  });
  beside.allow(3);
  calls.wait_for(1);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.unlock();
  });
  const size_t done = beside.stop();
  opener.join();
  BOOST_TEST((done >= 1 && done == calls.made.size()));
  BOOST_TEST(BackgroundThread().stop() == 0u);  // never started
}

BOOST_AUTO_TEST_CASE(a_failure_is_thrown_by_stop) {
  Calls calls;
  {
    BackgroundThread beside;
    beside.start([&](size_t i) {
      calls.add(i);
      if (i == 1) throw std::runtime_error("gone");
    });
    beside.allow(9);
    calls.wait_for(2);
    BOOST_CHECK_THROW(beside.stop(), std::runtime_error);
  }
  BackgroundThread lost;  // whose end is not asked for
  lost.start([](size_t) { throw std::runtime_error("gone"); });
  lost.allow(1);
  BOOST_TEST(calls.made.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
