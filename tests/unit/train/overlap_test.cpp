// The order in which rounds of gradients become final, and the background thread that follows it.
#include "lib/train/ranks/overlap.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

namespace {

// A model whose block has three rounds; the tests write the gradients of a backward pass by hand.
struct Passes {
  Backend backend = make_backend(Device::cpu, 1);
  Parameters parameters =
      Parameters::for_training(backend, TinyModel::config_of(1004, 192), DType::f32);
  RoundOrder order{parameters};

  // The parameters (joined ones: the first) of which at least a part is in the round.
  std::vector<std::string> tables(int round) const {
    const ElementRange all = parameters.division().round(round);
    std::vector<std::string> found;
    for (size_t i = 0; i < parameters.table().size(); ++i) {
      const ParameterEntry& e = parameters.table()[i];
      size_t next = i + 1;
      while (next < parameters.table().size() && parameters.table()[next].joined) ++next;
      const ParameterEntry& last = parameters.table()[next - 1];
      const int64_t end = last.offset + last.padded_rows * last.padded_cols;
      if (!e.joined && e.offset < all.end() && end > all.first) found.push_back(e.name);
    }
    return found;
  }
  void write(const std::string& name) {
    bool add = false;
    Context::gradient(parameters.get(name), add);
  }
  void write(int round) {
    for (const std::string& name : tables(round)) write(name);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(round_order, Passes)

BOOST_AUTO_TEST_CASE(rounds_stand_in_the_order_of_their_last_contribution) {
  BOOST_REQUIRE(parameters.division().rounds() == 3);
  const auto pass = [&](const auto& behind_closure) {
    parameters.begin_step();
    for (const int round : {1, 2, 0, 0}) {
      write(round);
      behind_closure();
    }
  };
  pass([&] { order.saw_closure(); });
  order.end();
  // Parameters that lie in two rounds are written with both, so that round 1 is final last.
  BOOST_TEST(order.rounds() == (std::vector<int>{2, 0, 1}), boost::test_tools::per_element());
  std::vector<size_t> final;
  size_t so_far = 0;
  pass([&] { final.push_back(so_far = order.final(so_far)); });
  BOOST_TEST(final == (std::vector<size_t>{0, 1, 1, 3}), boost::test_tools::per_element());
  BOOST_TEST(order.held());
  write(1);
  BOOST_TEST(!order.held());
}

BOOST_AUTO_TEST_CASE(a_gradient_that_nothing_reaches_is_final_at_the_end_alone) {
  const std::string left = tables(1)[1];
  const auto pass = [&](const auto& behind_closure) {
    parameters.begin_step();
    for (const int round : {0, 1, 2})
      for (const std::string& name : tables(round))
        if (name != left) write(name);
    behind_closure();
  };
  pass([&] { order.saw_closure(); });
  order.end();
  BOOST_TEST(order.rounds().back() == 1);
  size_t final = 9;
  pass([&] { final = order.final(0); });
  BOOST_TEST(final == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

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

BOOST_AUTO_TEST_SUITE(background_thread)

BOOST_AUTO_TEST_CASE(what_is_allowed_is_done_in_order) {
  Calls calls;
  BackgroundThread background;
  background.start([&](size_t i) { calls.add(i); });
  background.allow(2);
  calls.wait_for(2);
  background.allow(5);
  calls.wait_for(5);
  BOOST_TEST(background.stop() == 5u);
  BOOST_TEST(calls.made == (std::vector<size_t>{0, 1, 2, 3, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_not_begun_is_left) {
  Calls calls;
  BackgroundThread background;
  std::mutex gate;
  gate.lock();
  background.start([&](size_t i) {
    calls.add(i);
    const std::lock_guard lock(gate);
  });
  background.allow(3);
  calls.wait_for(1);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.unlock();
  });
  const size_t done = background.stop();
  opener.join();
  BOOST_TEST((done >= 1 && done == calls.made.size()));
  BOOST_TEST(BackgroundThread().stop() == 0u);  // never started
}

BOOST_AUTO_TEST_CASE(a_failure_is_thrown_by_stop) {
  Calls calls;
  {
    BackgroundThread background;
    background.start([&](size_t i) {
      calls.add(i);
      if (i == 1) throw std::runtime_error("gone");
    });
    background.allow(9);
    calls.wait_for(2);
    BOOST_CHECK_THROW(background.stop(), std::runtime_error);
  }
  BackgroundThread lost;  // destroyed without stop()
  lost.start([](size_t) { throw std::runtime_error("gone"); });
  lost.allow(1);
  BOOST_TEST(calls.made.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
