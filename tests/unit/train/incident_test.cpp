// What is told about a step that went wrong.
#include <boost/test/unit_test.hpp>

#include "kernels/view.h"
#include "lib/train/run/spike_policy.h"

using namespace tx;

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
  using Action = SpikeDecision::Action;
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
