// Checkpoints are written at once on the CPU, from a copy and on a thread on a GPU.
#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "lib/base/error.h"
#include "lib/train/run/checkpointer.h"
#include "tests/unit/checkpoint/samples.h"

using namespace tx;

namespace {

struct Fixture {
  Backend backend = make_backend("cpu", 1);
  Parameters parameters;
  Saver saver;
  Fixture() : parameters(backend, tx_test::small_config(), DType::f32, true), saver(parameters) {}
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(saver, Fixture)

BOOST_AUTO_TEST_CASE(the_cpu_writes_at_once_and_takes_no_memory) {
  BOOST_TEST(Saver::bytes(parameters) == 0u);
  const Parameters* given = nullptr;
  saver.begin([&](const Parameters& p, const Moments&) { given = &p; });
  BOOST_TEST((given == &parameters && saver.done()));
  saver.finish();
}

BOOST_AUTO_TEST_CASE(a_failure_is_thrown_once_and_another_save_may_follow) {
  saver.begin([](const Parameters&, const Moments&) { throw std::runtime_error("no room"); });
  BOOST_TEST(saver.done());
  BOOST_CHECK_THROW(saver.finish(), std::runtime_error);
  saver.finish();
  bool written = false;
  saver.begin([&](const Parameters&, const Moments&) { written = true; });
  saver.finish();
  BOOST_TEST(written);
}

BOOST_AUTO_TEST_CASE(a_failure_that_was_not_asked_for_stops_the_next_save) {
  saver.begin([](const Parameters&, const Moments&) { throw std::runtime_error("no room"); });
  BOOST_CHECK_THROW(saver.begin([](const Parameters&, const Moments&) {}), Bug);
  BOOST_CHECK_THROW(saver.finish(), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(moments_are_gathered_when_the_save_begins) {
  Moments whole = parameters.moments();
  std::swap(whole.first, whole.second);
  Saver of_ranks(parameters, [&] { return whole; });
  Moments given;
  of_ranks.begin([&](const Parameters&, const Moments& m) { given = m; });
  BOOST_TEST((given.first.data == whole.first.data && given.second.data == whole.second.data));
  of_ranks.finish();
  saver.begin([&](const Parameters&, const Moments& m) { given = m; });
  BOOST_TEST(given.first.data == parameters.moment1().data);
  saver.finish();
}

BOOST_AUTO_TEST_SUITE_END()
