// Spikes: what counts as one, what is done about it, and what is printed.
#include "lib/train/run/spike_policy.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/view.h"
#include "lib/base/error.h"

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

TrainOptions spike_options(OnSpike on_spike, int skips) {
  TrainOptions options;
  options.on_spike = on_spike;
  options.spike_threshold = 2;
  options.spike_window = 3;
  options.spike_floor = 0;
  options.max_skips = skips;
  return options;
}

// A policy that owns its options.
struct Policy : private TrainOptions, public SpikePolicy {
  explicit Policy(OnSpike on_spike, int skips = 20)
      : TrainOptions(spike_options(on_spike, skips)),
        SpikePolicy(static_cast<const TrainOptions&>(*this)) {}
  Policy(const Policy&) = delete;
};

int64_t none() { return -1; }

}  // namespace

BOOST_AUTO_TEST_SUITE(spike_policy)

BOOST_AUTO_TEST_CASE(a_spike_is_handled_as_on_spike_says) {
  BOOST_TEST((Policy(OnSpike::log).decide(spike(9), none).action == Action::logged));
  BOOST_TEST((Policy(OnSpike::skip).decide(spike(9), none).action == Action::skipped));
  const SpikeDecision back = Policy(OnSpike::rewind).decide(spike(9), [] { return int64_t(8); });
  BOOST_TEST((back.action == Action::rewound));
  BOOST_TEST(back.to == 8);
  // Before the first checkpoint a rewind is impossible.
  BOOST_TEST((Policy(OnSpike::rewind).decide(spike(9), none).action == Action::skipped));
}

BOOST_AUTO_TEST_CASE(a_step_that_is_not_finite_is_skipped_whatever_is_done_about_spikes) {
  for (const OnSpike on_spike : {OnSpike::log, OnSpike::skip, OnSpike::rewind}) {
    const SpikeDecision decision =
        Policy(on_spike).decide(not_finite(9), []() -> int64_t { throw 0; });
    BOOST_TEST((decision.action == Action::skipped));
    BOOST_TEST(decision.to == -1);
  }
}

BOOST_AUTO_TEST_CASE(going_back_to_one_checkpoint_ends_the_eleventh_time) {
  Policy p(OnSpike::rewind);
  int64_t checkpoint = 8;
  const auto earlier = [&] { return checkpoint; };
  for (int i = 0; i < 9; ++i) p.decide(spike(9), earlier);
  checkpoint = 16;
  for (int i = 0; i < 10; ++i)
    BOOST_TEST((p.decide(spike(17), earlier).action == Action::rewound), "time " << i);
  const SpikeDecision last = p.decide(spike(18), earlier);
  BOOST_TEST((last.action == Action::ended));
  BOOST_TEST(last.to == 17);  // the checkpoint of step 16 is good
  BOOST_TEST(last.why.find("step 18") != std::string::npos, last.why);
}

BOOST_AUTO_TEST_CASE(too_many_steps_in_a_row_that_are_not_finite_end_the_run) {
  Policy p(OnSpike::log, 3);
  const auto bad = [&](int64_t number) {
    const SpikeDecision decision = p.decide(not_finite(number), none);
    p.add(not_finite(number));
    return decision;
  };
  for (const int64_t number : {3, 4}) BOOST_TEST((bad(number).action == Action::skipped));
  p.add(step(5, 1));
  for (const int64_t number : {6, 7}) BOOST_TEST((bad(number).action == Action::skipped));
  BOOST_TEST(p.not_finite() == 2);
  const SpikeDecision last = bad(8);
  BOOST_TEST((last.action == Action::ended));
  BOOST_TEST(last.to == 5);  // the update of step 5 may have broken the weights
  BOOST_TEST(last.why.find("step 8: ") == 0U, last.why);
  // Spikes are finite, so they do not count.
  Policy q(OnSpike::skip, 2);
  for (int64_t number = 1; number < 9; ++number) {
    BOOST_TEST((q.decide(spike(number), none).action == Action::skipped));
    q.add(spike(number));
  }
  BOOST_TEST(q.not_finite() == 0);
}

BOOST_AUTO_TEST_CASE(no_number_of_steps_ends_the_run_where_none_is_given) {
  Policy p(OnSpike::log, 0);
  for (int64_t number = 1; number < 1000; ++number)
    BOOST_TEST((p.decide(not_finite(number), none).action == Action::skipped));
}

BOOST_AUTO_TEST_CASE(the_first_of_steps_in_a_row_is_recorded_and_two_records_stay) {
  Policy p(OnSpike::skip);
  const auto flights = [&](int64_t number) {
    const SpikeDecision decision = p.decide(spike(number), none);
    return std::to_string(decision.flight) + " for " + std::to_string(decision.old_flight);
  };
  BOOST_TEST(flights(1) == "1 for 0");
  BOOST_TEST(flights(2) == "0 for 0");
  BOOST_TEST(flights(4) == "3 for 0");
  BOOST_TEST(flights(6) == "4 for 1");
  BOOST_TEST(flights(8) == "5 for 3");
  // After a rewind the next step is a new one, even with the same number.
  Policy back(OnSpike::rewind);
  for (int64_t i = 1; i < 4; ++i)
    BOOST_TEST(back.decide(spike(8 + i), [] { return int64_t(8); }).flight == i);
}

BOOST_AUTO_TEST_CASE(a_policy_goes_on_from_its_state) {
  Policy one(OnSpike::log), other(OnSpike::log);
  for (int i = 1; i <= 3; ++i) one.add(step(i, i));
  for (int i = 4; i < 12; i += 2) one.decide(i < 8 ? spike(i) : not_finite(i), none);
  other.restore(parse_json(to_text(one.state()), "state"));
  BOOST_TEST(one.limit() == 4);
  BOOST_TEST(other.limit() == one.limit());
  BOOST_TEST(other.not_finite() == one.not_finite());
  const SpikeDecision a = one.decide(spike(12), none), b = other.decide(spike(12), none);
  BOOST_TEST(a.flight == b.flight);
  BOOST_TEST(a.old_flight == b.old_flight);
  BOOST_TEST(to_text(other.state()) == to_text(one.state()));
  BOOST_CHECK_THROW(other.restore(Json::object()), DataError);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

SpikeDetector after(double threshold, int window, std::initializer_list<double> losses,
                    double floor = 0) {
  SpikeDetector spikes(threshold, window, floor);
  for (const double loss : losses) spikes.add(loss);
  return spikes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spikes)

BOOST_AUTO_TEST_CASE(known_limit) {
  // Mean 3, deviation sqrt(2.5) of 1 to 5.
  BOOST_TEST(std::abs(after(2, 5, {1, 2, 3, 4, 5}).limit() - (3 + 2 * std::sqrt(2.5))) < 1e-14);
  // Older losses leave the window.
  BOOST_TEST(after(2, 5, {9, 1, 2, 3, 4, 5}).limit() == after(2, 5, {1, 2, 3, 4, 5}).limit());
}

BOOST_AUTO_TEST_CASE(a_rise_below_the_floor_is_noise) {
  // Six deviations of 0.01 are less than the floor: 0.1 nats, as the mean is below 1...
  BOOST_TEST(std::abs(after(6, 3, {0.91, 0.92, 0.93}, 0.1).limit() - 1.02) < 1e-14);
  // ...and 10 % of the mean if that is above 1.
  BOOST_TEST(std::abs(after(6, 3, {3.99, 4, 4.01}, 0.1).limit() - 4.4) < 1e-14);
  // With a larger deviation the floor has no effect.
  BOOST_TEST(after(2, 3, {1, 2, 3}, 0.1).limit() == after(2, 3, {1, 2, 3}).limit());
}

BOOST_AUTO_TEST_CASE(no_limit_before_the_window_is_full_nor_without_spread) {
  BOOST_TEST(after(2, 5, {1, 2, 3, 4}).limit() == 0);
  BOOST_TEST(after(2, 3, {1, 1, 1}).limit() == 0);
  BOOST_TEST(after(0, 3, {1, 2, 3}).limit() == 0);
}

BOOST_AUTO_TEST_CASE(a_spike_counts_as_the_limit_and_a_loss_that_is_not_finite_not_at_all) {
  const SpikeDetector before = after(2, 3, {1, 2, 3});
  BOOST_TEST(before.limit() == 4);
  BOOST_TEST(after(2, 3, {1, 2, 3, 1000}).limit() == after(2, 3, {1, 2, 3, 4}).limit());
  BOOST_TEST(after(2, 3, {1, 2, 3, NAN, INFINITY, -INFINITY}).limit() == 4);
}

BOOST_AUTO_TEST_CASE(a_level_that_stays_is_no_spike_for_ever) {
  SpikeDetector spikes = after(6, 100, {});
  for (int i = 0; i < 100; ++i) spikes.add(2 + 0.01 * (i % 2));
  int steps = 0;
  while (spikes.limit() < 50 && steps < 1000) spikes.add(50), ++steps;
  BOOST_TEST(steps > 3);
  BOOST_TEST(steps < 100);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

StepRecord spike_of(int64_t step) {
  StepRecord r;
  r.step = step;
  r.loss = 50;
  r.loss_scale = 0.1;
  r.loss_limit = 3.25;
  r.gradient_norm = 8;
  r.skip = r.spike = 1;
  return r;
}

SpikeDecision decided(SpikeDecision::Action action, int64_t to = -1) {
  SpikeDecision d;
  d.action = action;
  d.to = to;
  return d;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(incident)

BOOST_AUTO_TEST_CASE(a_spike) {
  const std::string start = "step 12: loss spike: 5.0000, above the limit of 3.2500";
  const StepRecord r = spike_of(12);
  BOOST_TEST(describe_incident(r, decided(Action::logged), "") == start);
  BOOST_TEST(describe_incident(r, decided(Action::skipped), "") ==
             start + "; the update was skipped");
  BOOST_TEST(describe_incident(r, decided(Action::rewound, 10), "run/flight-1.safetensors") ==
             start +
                 "; rewinding to step 10; replay it with: tx-train --replay "
                 "run/flight-1.safetensors");
  BOOST_TEST(to_text(incident_line(r, decided(Action::skipped), "")) ==
             R"({"step":12,"incident":"spike","at_step":12,"action":"skipped",)"
             R"("incident_loss":5.0,"loss_limit":3.25,"gradient_norm":8.0})");
}

BOOST_AUTO_TEST_CASE(where_the_run_goes_back_the_line_belongs_to_the_step_after) {
  const Json line =
      incident_line(spike_of(12), decided(SpikeDecision::Action::rewound, 10), "flight-1");
  BOOST_TEST(line.at("step") == 11);
  BOOST_TEST(line.at("at_step") == 12);
  BOOST_TEST(line.at("action") == "rewound");
  BOOST_TEST(line.at("flight") == "flight-1");
}

BOOST_AUTO_TEST_CASE(not_finite) {
  StepRecord r = spike_of(3);
  r.spike = 0;
  BOOST_TEST(describe_incident(r, decided(SpikeDecision::Action::skipped), "") ==
             "step 3: loss or gradients are not finite; the update was skipped");
  BOOST_TEST(incident_line(r, decided(SpikeDecision::Action::ended), "").at("incident") ==
             "not finite");
  BOOST_TEST(incident_line(r, decided(SpikeDecision::Action::ended), "").at("action") == "ended");
}

BOOST_AUTO_TEST_SUITE_END()
