// Bad steps: loss or gradients are not finite, or the loss is a spike. Such a step has not applied
// its update (kernels: gradient_norm). SpikePolicy decides what to do, and it is done here.
#include "lib/base/io.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"
#include "lib/train/run/flight.h"
#include "lib/train/run/session.h"

namespace tx {

std::optional<Session::Rewind> Session::incident(StepRecord& record) {
  using Action = SpikeDecision::Action;
  const SpikeDecision decision = spikes_.decide(record, [this] {
    checkpoints_.finish_save();  // the save in progress may be the one to return to
    return checkpoints_.newest_on_schedule(state_.step);
  });
  const std::string flight = decision.flight > 0 ? record_flight(decision.flight, record) : "";
  if (decision.old_flight > 0) directory_.unlink("flight-" + std::to_string(decision.old_flight));
  log_.warn(describe_incident(record, decision, flight.empty() ? "" : directory_.file(flight)));
  Json line = incident_line(record, decision, flight);
  line["seconds"] = progress_.seconds();
  if (decision.action == Action::rewound) return Rewind{decision.to, line};
  progress_.write(line);
  if (decision.action == Action::ended) give_up(decision.why, decision.to);
  if (decision.action == Action::logged) record = run_.release();
  return {};
}

// Returns the name of the file written; "" if that failed: a full disk does not end a run.
std::string Session::record_flight(int64_t number, const StepRecord& record) {
  if (run_.replicas().divided()) {
    log_.warn("recording a bad step is not supported with --tensor-parallel");
    return "";
  }
  run_.gather_gradients();
  const std::string name = "flight-" + std::to_string(number) + ".safetensors";
  const Json& config = config_;
  Json facts{{"command", config.at("command")}, {"options", config.at("options")}};
  if (config.contains("products")) facts["products"] = config["products"];
  facts.update(flight_facts(record, run_.feed().batches(), run_.whole()));
  try {
    directory_.claim(directory_.file(name));
    save_flight(directory_.file(name), run_.whole(), facts);
    return name;
  } catch (const IoError& e) {
    log_.warn(e.what());
    return "";
  }
}

// Restores weights, optimizer state, best model and patience. Keeps the position in the text, the
// losses seen, and the counters of skipped updates and tokens.
void Session::go_back(const Rewind& rewind) {
  const ModelReader reader(directory_.model(rewind.step));
  reader.load(run_.whole());
  validator_.restore(load_state(directory_.state(rewind.step), run_.whole(),
                                run_.whole_optimizer_state(), reader.checksum()));
  run_.spread(true);
  state_.step = rewind.step;
  validator_.go_on();
  validator_.forget_found();
  progress_.forget();
  // The best model may have been pruned for a better one that is discarded now. Its score must not
  // compete with models that exist.
  const int64_t best = validator_.best();
  if (best >= 0 && !file_exists(directory_.model(best))) validator_.forget_best();
  checkpoints_.go_back(rewind.step, validator_.best());
  directory_.cut_log(rewind.step);
  progress_.write(rewind.line);
}

// Ends a run whose weights were good before step `before`. Points last.safetensors, which other
// tools read, at the newest such checkpoint, and names it in the message.
void Session::give_up(const std::string& why, int64_t before) {
  const std::string failure = why + checkpoints_.finish_failed();
  const int64_t good = directory_.newest_before(before);
  if (good < 0)
    throw Diverged(failure +
                   "; no checkpoint is known to be good: train again with a lower learning rate "
                   "(--lr, --lr-factor)");
  directory_.link("last", good);
  throw Diverged(
      failure + "; the last good checkpoint is " + directory_.model(good) +
      ": start a new run from it (--init) with a lower learning rate (--lr, --lr-factor)");
}

}  // namespace tx
