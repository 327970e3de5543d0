#include "lib/train/run/spike_policy.h"

#include <algorithm>
#include <cmath>

#include "kernels/view.h"
#include "lib/base/figure.h"
#include "lib/base/split.h"

namespace tx {

constexpr size_t max_flights = 2;  // files; each holds all weights
constexpr int max_rewinds = 10;    // to one checkpoint

double SpikeDetector::limit() const {
  if (threshold_ <= 0 || losses_.size() < window_) return 0;
  double sum = 0, squares = 0;
  for (const double loss : losses_) sum += loss;
  const double mean = sum / double(window_);
  for (const double loss : losses_) squares += (loss - mean) * (loss - mean);
  const double deviation = std::sqrt(squares / double(window_ - 1));
  const double rise = std::max(threshold_ * deviation, floor_ * std::max(1.0, mean));
  return deviation > 0 ? mean + rise : 0;
}

void SpikeDetector::add(double loss) {
  if (!std::isfinite(loss)) return;
  const double max = limit();
  losses_.push_back(max > 0 ? std::min(loss, max) : loss);
  if (losses_.size() > window_) losses_.pop_front();
}

void SpikeDetector::restore(const Json& state) {
  const auto losses = state.get<std::vector<double>>();
  const size_t kept = std::min(losses.size(), window_);
  losses_.assign(losses.end() - std::ptrdiff_t(kept), losses.end());
}

SpikeDecision SpikePolicy::decide(const StepRecord& record,
                                  const std::function<int64_t()>& earlier) {
  SpikeDecision decision;
  if (!record.spike) decision = skip(record.step);
  if (record.spike && options_.on_spike == OnSpike::rewind) {
    const int64_t to = earlier();
    if (to >= 0) decision = go_back(to, record.step);
  }
  if (record.spike && options_.on_spike == OnSpike::log)
    decision.action = SpikeDecision::Action::logged;
  choose_flight(decision, record.step);
  return decision;
}

// The update before the first of these steps may have broken the weights.
SpikeDecision SpikePolicy::skip(int64_t step) {
  ++not_finite_;
  SpikeDecision decision;
  if (options_.max_skips == 0 || not_finite_ < options_.max_skips) return decision;
  decision.action = SpikeDecision::Action::ended;
  decision.to = step - not_finite_;
  decision.why = "step " + std::to_string(step) + ": loss or gradients of " +
                 counted(not_finite_, "consecutive step") +
                 " were not finite (--max-skips): the training has diverged";
  return decision;
}

// The text after each rewind differs, so the text is not the cause.
SpikeDecision SpikePolicy::go_back(int64_t to, int64_t step) {
  rewinds_ = to == rewound_to_ ? rewinds_ + 1 : 1;
  rewound_to_ = to;
  SpikeDecision decision;
  decision.action = SpikeDecision::Action::rewound;
  decision.to = to;
  if (rewinds_ <= max_rewinds) return decision;
  decision.action = SpikeDecision::Action::ended;
  decision.to = to + 1;
  decision.why = "step " + std::to_string(step) + ": another loss spike, after " +
                 std::to_string(max_rewinds) + " rewinds to the checkpoint of step " +
                 std::to_string(to) + ", each continued with different text";
  return decision;
}

// Records only the first of several consecutive bad steps.
void SpikePolicy::choose_flight(SpikeDecision& decision, int64_t step) {
  const bool first = incidents_ == 0 || step != incident_step_ + 1;
  ++incidents_;
  incident_step_ = decision.action == SpikeDecision::Action::rewound ? -1 : step;
  if (!first) return;
  decision.flight = incidents_;
  flights_.push_back(incidents_);
  if (flights_.size() <= max_flights) return;
  decision.old_flight = flights_.front();
  flights_.erase(flights_.begin());
}

void SpikePolicy::add(const StepRecord& record) {
  if (!record.skip || record.spike) not_finite_ = 0;
  spikes_.add(record.loss * record.loss_scale);
}

Json SpikePolicy::state() const {
  return Json{{"incidents", incidents_},
              {"incident_step", incident_step_},
              {"flights", flights_},
              {"not_finite", not_finite_},
              {"losses", spikes_.state()}};
}

void SpikePolicy::restore(const Json& state) {
  const std::string where = "the training state";
  incidents_ = json_value<int64_t>(state, "incidents", where);
  incident_step_ = json_value<int64_t>(state, "incident_step", where);
  flights_ = json_value<std::vector<int64_t>>(state, "flights", where);
  not_finite_ = json_value<int>(state, "not_finite", where);
  spikes_.restore(state.at("losses"));
}

namespace {

using Action = SpikeDecision::Action;

constexpr const char* action_names[] = {"logged", "skipped", "rewound", "ended"};

// Per target.
double mean_loss(const StepRecord& record) { return record.loss * record.loss_scale; }

}  // namespace

std::string describe_incident(const StepRecord& record, const SpikeDecision& decision,
                              const std::string& flight) {
  std::string message = "step " + std::to_string(record.step) + ": ";
  if (record.spike)
    message += "loss spike: " + figure(mean_loss(record), 4) + ", above the limit of " +
               figure(record.loss_limit, 4);
  else
    message += "loss or gradients are not finite";
  if (decision.action == Action::skipped) message += "; the update was skipped";
  if (decision.action == Action::rewound)
    message += "; rewinding to step " + std::to_string(decision.to);
  if (!flight.empty()) message += "; replay it with: tx-train --replay " + shell_word(flight);
  return message;
}

Json incident_line(const StepRecord& record, const SpikeDecision& decision,
                   const std::string& flight) {
  Json line{{"step", decision.action == Action::rewound ? decision.to + 1 : record.step},
            {"incident", record.spike ? "spike" : "not finite"},
            {"at_step", record.step},
            {"action", action_names[size_t(decision.action)]},
            {"incident_loss", mean_loss(record)},
            {"loss_limit", record.loss_limit},
            {"gradient_norm", record.gradient_norm}};
  if (!flight.empty()) line["flight"] = flight;
  return line;
}

}  // namespace tx
