#include "lib/train/spike_policy.h"

#include "kernels/view.h"

namespace tx {

namespace {

constexpr int64_t most_flights = 10;  // a run that has broken for good must not fill the disk
constexpr int most_rewinds = 10;      // to one checkpoint, nor go in circles for ever

}  // namespace

SpikePolicy::SpikePolicy(const SpikeSettings& settings)
    : settings_(settings), spikes_(settings.threshold, settings.window) {}

SpikeDecision SpikePolicy::decide(const StepRecord& record,
                                  const std::function<int64_t()>& earlier) {
  SpikeDecision decision;
  if (record.spike && settings_.on_spike == "rewind") {
    const int64_t to = earlier();
    if (to >= 0) decision = go_back(to, record.step);
  }
  if (record.spike && settings_.on_spike == "log") decision.action = SpikeDecision::Action::logged;
  ++incidents_;
  decision.flight = incidents_ <= most_flights ? incidents_ : 0;
  return decision;
}

// Other text followed each time, so that the text is not to blame.
SpikeDecision SpikePolicy::go_back(int64_t to, int64_t step) {
  rewinds_ = to == rewound_to_ ? rewinds_ + 1 : 1;
  rewound_to_ = to;
  if (rewinds_ <= most_rewinds) return {SpikeDecision::Action::rewound, to, 0, ""};
  return {SpikeDecision::Action::ended, to, 0,
          "step " + std::to_string(step) + ": a loss spike again, after going back to step " +
              std::to_string(to) + " " + std::to_string(most_rewinds) +
              " times: begin a run from it with a lower --lr or a higher --spike-threshold"};
}

void SpikePolicy::add(const StepRecord& record) { spikes_.add(record.loss * record.loss_scale); }

Json SpikePolicy::state() const {
  return Json{{"incidents", incidents_}, {"losses", spikes_.state()}};
}

void SpikePolicy::restore(const Json& state) {
  incidents_ = state.value("incidents", int64_t(0));
  spikes_.restore(state.value("losses", Json::array()));
}

}  // namespace tx
