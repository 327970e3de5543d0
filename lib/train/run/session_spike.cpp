// Steps that went wrong. Such a step has held its update (kernels: gradient_norm); what SpikePolicy
// decides about it is done here.
#include "lib/base/io.h"
#include "lib/checkpoint/flight_file.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"
#include "lib/train/run/flight.h"
#include "lib/train/run/incident.h"
#include "lib/train/run/session.h"

namespace tx {

std::optional<Session::WayBack> Session::incident(StepRecord& record) {
  using Action = SpikeDecision::Action;
  const SpikeDecision decision = parts_.spikes.decide(record, [this] {
    checkpoints_.finish_save();  // the save under way may be the one to go back to
    return checkpoints_.newest_on_schedule(state_.step);
  });
  const std::string flight = decision.flight > 0 ? record_flight(decision.flight, record) : "";
  if (decision.old_flight > 0) parts_.run.unlink("flight-" + std::to_string(decision.old_flight));
  log_.warn(describe_incident(record, decision, flight.empty() ? "" : parts_.run.file(flight)));
  Json line = incident_line(record, decision, flight);
  line["seconds"] = parts_.progress.seconds();
  if (decision.action == Action::rewound) return WayBack{decision.to, line};
  parts_.progress.write(line);
  if (decision.action == Action::ended) give_up(decision.why, decision.to);
  if (decision.action == Action::logged) {
    parts_.leader.release();
    record = parts_.stepper->release(record);
  }
  return {};
}

// The name of the file written, "" where it could not be written: a full disk does not end a
// training.
std::string Session::record_flight(int64_t number, const StepRecord& record) {
  if (parts_.part) {
    log_.warn("no flight is recorded with --tensor-parallel");
    return "";
  }
  parts_.leader.gradients(*parts_.stepper);
  const std::string name = "flight-" + std::to_string(number) + ".safetensors";
  const Json& config = parts_.config;
  Json facts{{"command", config.at("command")}, {"options", config.at("options")}};
  if (config.contains("products")) facts["products"] = config["products"];
  facts.update(flight_facts(record, parts_.feed->batches(), *parts_.parameters));
  try {
    save_flight(parts_.run.file(name), *parts_.parameters, facts);
    return name;
  } catch (const IoError& e) {
    log_.warn(e.what());
    return "";
  }
}

// Weights, moments, best and patience are those of that step again; the place in the text, the
// losses seen and the counters of work stay.
void Session::go_back(const WayBack& way) {
  Validator& validator = parts_.validator;
  const ModelReader reader(parts_.run.model(way.step));
  reader.load(*parts_.parameters);
  validator.restore(load_state(parts_.run.state(way.step), *parts_.parameters,
                               parts_.whole_moments(), reader.checksum()));
  parts_.leader.weights(parts_);
  state_.step = way.step;
  validator.forget_found();
  parts_.progress.forget();
  // Pruned for a better one that goes now; its score would stand against models that remain.
  const int64_t best = validator.best();
  if (best >= 0 && !file_exists(parts_.run.model(best))) validator.forget_best();
  checkpoints_.go_back(way.step, validator.best());
  parts_.run.cut_log(way.step);
  parts_.progress.write(way.line);
}

// Ends a run whose weights were good before step `before`: names the newest checkpoint of those,
// and makes it the last, which other tools take.
void Session::give_up(const std::string& why, int64_t before) {
  const std::string failure = why + checkpoints_.finish_failed();
  const int64_t good = parts_.run.newest_before(before);
  if (good < 0)
    throw Diverged(failure +
                   "; no checkpoint is known to be good: begin again with a lower rate (--lr, "
                   "--lr-factor)");
  parts_.run.link("last", good);
  throw Diverged(failure + "; the last good checkpoint is " + parts_.run.model(good) +
                 ": begin another run from it (--init) with a lower rate (--lr, --lr-factor)");
}

}  // namespace tx
