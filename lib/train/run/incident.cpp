#include "lib/train/run/incident.h"

#include "kernels/view.h"
#include "lib/base/figure.h"

namespace tx {

namespace {

using Action = SpikeDecision::Action;

const char* name_of(Action action) {
  switch (action) {
    case Action::logged:
      return "logged";
    case Action::skipped:
      return "skipped";
    case Action::rewound:
      return "rewound";
    case Action::ended:
      return "ended";
  }
  return "";
}

// Of a label.
double mean_loss(const StepRecord& record) { return record.loss * record.loss_scale; }

}  // namespace

std::string describe_incident(const StepRecord& record, const SpikeDecision& decision,
                              const std::string& flight) {
  std::string message = "step " + std::to_string(record.step) + ": ";
  if (record.spike)
    message += "loss spike, " + figure(mean_loss(record), 4) + " where at most " +
               figure(record.loss_limit, 4) + " was expected";
  else
    message += "loss or gradients are not finite";
  if (decision.action == Action::skipped) message += "; the update was skipped";
  if (decision.action == Action::rewound)
    message += "; going back to step " + std::to_string(decision.to);
  if (!flight.empty()) message += "; see it with: tx-train --replay " + flight;
  return message;
}

Json incident_line(const StepRecord& record, const SpikeDecision& decision,
                   const std::string& flight) {
  Json line{{"step", decision.action == Action::rewound ? decision.to + 1 : record.step},
            {"incident", record.spike ? "spike" : "not finite"},
            {"at_step", record.step},
            {"action", name_of(decision.action)},
            {"incident_loss", mean_loss(record)},
            {"loss_limit", record.loss_limit},
            {"gradient_norm", record.gradient_norm}};
  if (!flight.empty()) line["flight"] = flight;
  return line;
}

}  // namespace tx
