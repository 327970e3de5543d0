// Steps that went wrong: a loss or gradients that are not finite, or a loss spike. The step has
// held its update (kernels: gradient_norm); what SpikePolicy decides about it is done here.

#include "lib/base/error.h"
#include "lib/base/failpoint.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/checkpoint/flight_file.h"
#include "lib/train/flight.h"
#include "lib/train/session.h"

namespace tx {

namespace {

const char* name_of(SpikeDecision::Action action) {
  switch (action) {
    case SpikeDecision::Action::logged:
      return "logged";
    case SpikeDecision::Action::skipped:
      return "skipped";
    case SpikeDecision::Action::rewound:
      return "rewound";
    case SpikeDecision::Action::ended:
      return "ended";
  }
  return "";
}

}  // namespace

void Session::incident() {
  const SpikeDecision decision = spikes_.decide(record_, [this] {
    settle();  // the save under way may be the one to go back to
    return earlier_checkpoint();
  });
  const std::string flight = decision.flight > 0 ? record_flight(decision.flight) : "";
  if (decision.old_flight > 0) run_.unlink("flight-" + std::to_string(decision.old_flight));
  if (decision.action == SpikeDecision::Action::rewound) rewind_to_ = decision.to;
  tell_incident(decision, flight);
  if (decision.action == SpikeDecision::Action::ended) give_up(decision.why, decision.to);
  if (decision.action == SpikeDecision::Action::logged) record_ = stepper_->release(record_);
}

void Session::tell_incident(const SpikeDecision& decision, const std::string& flight) {
  const bool rewound = decision.action == SpikeDecision::Action::rewound;
  const double loss = record_.loss * record_.loss_scale;
  std::string message = "step " + std::to_string(step_) + ": ";
  if (record_.spike)
    message += "loss spike, " + figure(loss, 4) + " where at most " +
               figure(record_.loss_limit, 4) + " was expected";
  else
    message += "loss or gradients are not finite";
  if (decision.action == SpikeDecision::Action::skipped) message += "; the update was skipped";
  if (rewound) message += "; going back to step " + std::to_string(decision.to);
  if (!flight.empty()) message += "; see it with: tx-train --replay " + run_.file(flight);
  log_.warn(message);
  Json line{{"step", rewound ? decision.to + 1 : step_},
            {"incident", record_.spike ? "spike" : "not finite"},
            {"at_step", step_},
            {"action", name_of(decision.action)},
            {"incident_loss", loss},
            {"loss_limit", record_.loss_limit},
            {"gradient_norm", record_.gradient_norm}};
  if (!flight.empty()) line["flight"] = flight;
  line["seconds"] = seconds();
  if (rewound)
    pending_ = line;
  else
    log(line);
}

// Ends a run whose weights were good before step `before`: names the newest checkpoint of those,
// and makes it the last, which other tools take.
void Session::give_up(const std::string& why, int64_t before) {
  settle();
  const int64_t good = run_.newest_before(before);
  if (good < 0)
    throw Diverged(why +
                   "; no checkpoint is known to be good: begin again with a lower rate (--lr, "
                   "--lr-factor)");
  run_.link("last", good);
  throw Diverged(why + "; the last good checkpoint is " + run_.model(good) +
                 ": begin another run from it (--init) with a lower rate (--lr, --lr-factor)");
}

// The name of the file written, "" when there is none. A disk that is full ends no training.
std::string Session::record_flight(int64_t number) {
  const std::string name = "flight-" + std::to_string(number) + ".safetensors";
  Json facts{{"command", config_.at("command")}, {"options", config_.at("options")}};
  if (config_.contains("products")) facts["products"] = config_["products"];
  facts.update(flight_facts(record_, batches_, *parameters_));
  try {
    save_flight(run_.file(name), *parameters_, facts);
    return name;
  } catch (const IoError& e) {
    log_.warn(e.what());
    return "";
  }
}

// The newest checkpoint of --save-every before this step, -1 where there is none. What a signal or
// the clock saved does not count: a run that was stopped must go back as far as one that was not.
int64_t Session::earlier_checkpoint() const {
  if (options_.save_every == 0) return -1;
  const int64_t to = (step_ - 1) / options_.save_every * options_.save_every;
  return to > 0 && file_exists(run_.model(to)) && file_exists(run_.state(to)) ? to : -1;
}

// Weights, moments, best and patience are those of step `to` again; the place in the text, the
// losses seen and the counters of work stay. Killed anywhere in here, the run goes on from a
// checkpoint before the spike and meets it again.
void Session::go_back(int64_t to) {
  const Json now = state();
  const ModelReader reader(run_.model(to));
  reader.load(*parameters_);
  Json then = load_state(run_.state(to), *parameters_, reader.checksum());
  for (const char* key : {"skipped", "tokens", "packer"}) then[key] = now.at(key);
  then.update(spikes_.state());
  restore(then);
  rewind_to_ = -1;
  validator_.forget_found();
  progress_.forget();
  run_.link("last", to);
  // Pruned for a better one that goes now; its score would stand against models that remain.
  const int64_t best = validator_.best();
  if (best >= 0 && !file_exists(run_.model(best))) validator_.forget_best();
  if (validator_.best() >= 0)
    run_.link("best", best);
  else
    run_.unlink("best");
  failpoint("rewind");
  run_.discard_after(to);
  failpoint("rewound");
  run_.cut_log(to);
  log(pending_);
}

}  // namespace tx
