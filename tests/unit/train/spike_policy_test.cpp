#include "lib/train/spike_policy.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/view.h"

using namespace tx;
using Action = SpikeDecision::Action;

namespace {

StepRecord step(int64_t number, double loss) {
  StepRecord record;
  record.step = number;
  record.loss = loss;
  return record;
}

StepRecord spike(int64_t number, double loss = 100) {
  StepRecord record = step(number, loss);
  record.skip = record.spike = 1;
  return record;
}

StepRecord not_finite(int64_t number) {
  StepRecord record = step(number, NAN);
  record.skip = 1;
  return record;
}

SpikePolicy policy(const std::string& on_spike) { return SpikePolicy({on_spike, 2, 3}); }

int64_t none() { return -1; }

}  // namespace

BOOST_AUTO_TEST_SUITE(spike_policy)

BOOST_AUTO_TEST_CASE(a_spike_is_answered_as_told) {
  BOOST_TEST((policy("log").decide(spike(9), none).action == Action::logged));
  BOOST_TEST((policy("skip").decide(spike(9), none).action == Action::skipped));
  const SpikeDecision back = policy("rewind").decide(spike(9), [] { return int64_t(8); });
  BOOST_TEST((back.action == Action::rewound));
  BOOST_TEST(back.to == 8);
  // Before the first checkpoint there is nothing to go back to.
  BOOST_TEST((policy("rewind").decide(spike(9), none).action == Action::skipped));
}

BOOST_AUTO_TEST_CASE(a_step_that_is_not_finite_is_skipped_whatever_is_done_about_spikes) {
  for (const char* on_spike : {"log", "skip", "rewind"}) {
    const SpikeDecision decision =
        policy(on_spike).decide(not_finite(9), []() -> int64_t { throw 0; });
    BOOST_TEST((decision.action == Action::skipped));
    BOOST_TEST(decision.to == -1);
  }
}

BOOST_AUTO_TEST_CASE(going_back_to_one_checkpoint_ends_the_eleventh_time) {
  SpikePolicy p = policy("rewind");
  int64_t checkpoint = 8;
  const auto earlier = [&] { return checkpoint; };
  for (int i = 0; i < 9; ++i) p.decide(spike(9), earlier);
  checkpoint = 16;
  for (int i = 0; i < 10; ++i)
    BOOST_TEST((p.decide(spike(17), earlier).action == Action::rewound), "time " << i);
  const SpikeDecision last = p.decide(spike(18), earlier);
  BOOST_TEST((last.action == Action::ended));
  BOOST_TEST(last.to == 16);
  BOOST_TEST(last.why.find("step 18") != std::string::npos, last.why);
}

BOOST_AUTO_TEST_CASE(a_policy_goes_on_from_its_state) {
  SpikePolicy one = policy("log"), other = policy("log");
  for (int i = 1; i <= 3; ++i) one.add(step(i, i));
  for (int i = 4; i < 12; ++i) one.decide(spike(i), none);
  other.restore(parse_json(to_text(one.state()), "state"));
  BOOST_TEST(one.limit() == 4);
  BOOST_TEST(other.limit() == one.limit());
  BOOST_TEST(other.decide(spike(12), none).flight == one.decide(spike(12), none).flight);
  BOOST_TEST(to_text(other.state()) == to_text(one.state()));
  other.restore(Json::object());  // of a run older than the policy
  BOOST_TEST(other.limit() == 0);
  BOOST_TEST(other.decide(spike(13), none).flight == 1);
}

BOOST_AUTO_TEST_SUITE_END()
