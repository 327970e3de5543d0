// What a session does besides training: it resumes, and handles bad steps and whatever goes wrong.
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/base/resources.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"
#include "lib/train/run/flight.h"
#include "lib/train/run/session.h"

namespace tx {
namespace {

// Warns if log.jsonl lacks the last line up to `step`. `options`: of the run before it was resumed.
void check_log_end(int64_t found, int64_t step, const Json& options, const std::string& file,
                   const Log& log) {
  const int64_t every = options.value("log-every", int64_t(0));
  if (every <= 0 || found >= step / every * every) return;
  log.warn(file +
           (found > 0 ? " ends at step " + std::to_string(found) : std::string(" has no lines")) +
           ", but the checkpoint is of step " + std::to_string(step) +
           ": the lines between are missing, and their time is not counted");
}

// A resumed run keeps its batches. An unchanged limit is not checked again: program memory varies.
void check_new_limit(const TrainOptions& options, const Json& former, size_t planned) {
  const bool same = former.at("options").value("memory", "") == options.memory;
  if (options.memory.empty() || same) return;
  if (int64_t(planned) > parse_size(options.memory, "--memory"))
    throw UsageError("--memory " + options.memory +
                     " cannot hold the batches of this run: give --memory " + size_text(planned) +
                     (options.recompute ? "" : ", or less with --recompute"));
}

}  // namespace

void Session::resume(int64_t step) try {
  const Json config = directory_.read_config();
  check_new_limit(options_, config, run_.memory().total());
  const ModelReader reader(directory_.model(step));
  reader.load(run_.whole());
  const Json saved = load_state(directory_.state(step), run_.whole(), run_.whole_optimizer_state(),
                                reader.checksum());
  run_.spread({.optimizer_state = true});
  state_ = TrainState::from_json(saved, directory_.state(step));
  if (state_.step != step)
    throw DataError(directory_.state(step) + " is of step " + std::to_string(state_.step));
  spikes_.restore(saved);
  validator_.restore(saved);
  run_.set_feed(Json{{"packer", saved.at("packer")}});
  const Json& options = config.at("options");
  const RunDirectory::LogEnd end = directory_.cut_log(step);
  check_log_end(end.step, step, options, directory_.file("log.jsonl"), log_);
  progress_.resume(end.seconds);
  stage_ = state_.unfinished == Unfinished::validation ? Stage::unscored : Stage::recorded;
  checkpoints_.resume(step, Validator::best_of(saved), good_before(), options.value("keep", 0),
                      Validator::due_best_of(saved));
  log_.info("resuming " + directory_.path() + " after step " + std::to_string(step));
} catch (const Json::exception&) {
  throw DataError(directory_.path() + ": the training state of its last checkpoint is damaged");
}

// --minutes: what is left of them before the first step.
void Session::check_time() {
  if (options_.minutes <= 0) return;
  const double used = progress_.seconds(), left = 60 * options_.minutes - used;
  if (checkpoints_.saved() >= 0)  // resumed
    log_.info(minutes_limit(options_) + ": " + figure(used / 60, 1) + " used, " +
              figure(left / 60, 1) + " left");
  else if (left <= 0)
    throw UsageError(minutes_limit(options_) + " is too short: preparation took " +
                     figure(used, 1) + " seconds");
}

// After a validation that was stopped or failed: the resumed run validates the model again.
void Session::save_unvalidated(const std::exception_ptr& failure) {
  state_.unfinished = Unfinished::validation;
  try {
    save(false);
    checkpoints_.finish_save();
  } catch (const std::exception&) {
    if (!failure) throw;  // otherwise the first error is reported
  }
  if (failure) std::rethrow_exception(failure);
}

// Does what SpikePolicy decides. Whether the run went back to a checkpoint.
bool Session::bad_step(StepRecord& record) {
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
  if (decision.action == Action::rewound) {
    go_back(decision.to, line);
    return true;
  }
  progress_.write(line);
  if (decision.action == Action::ended) give_up(decision.why, decision.to);
  if (decision.action == Action::logged) record = run_.release();
  return false;
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
  for (const char* key : {"products", "frozen_tokens"})
    if (config.contains(key)) facts[key] = config[key];
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
void Session::go_back(int64_t step, const Json& line) {
  const ModelReader reader(directory_.model(step));
  reader.load(run_.whole());
  validator_.restore(load_state(directory_.state(step), run_.whole(), run_.whole_optimizer_state(),
                                reader.checksum()));
  run_.spread({.optimizer_state = true});
  state_.step = step;
  stage_ = Stage::recorded;
  validator_.go_on();
  validator_.forget_found();
  progress_.forget();
  // The best model may have been pruned for one discarded now: only models that exist compete.
  const int64_t best = validator_.best();
  if (best >= 0 && !file_exists(directory_.model(best))) validator_.forget_best();
  checkpoints_.go_back(step, validator_.best());
  directory_.cut_log(step);
  progress_.write(line);
}

// The weights of steps before the returned one are known to be good: the loss of a later step was
// finite. After `broken` losses in a row that were not, the weights before them are in doubt. A run
// that has reached its limit has no later step: its weights count as good if its last loss was.
int64_t Session::good_before() const {
  const int broken = spikes_.not_finite();
  return !limit_reached().empty() && broken == 0 ? state_.step + 1 : state_.step - broken;
}

// A checkpoint with non-finite weights is useless: it must not replace a good one.
void Session::check_weights() {
  if (run_.weights_finite()) return;
  const std::string found = "not all weights are finite";
  if (checkpoints_.saved() < 0) throw DataError("--init " + options_.init + ": " + found);
  give_up("step " + std::to_string(state_.step) + ": " + found + ": the training has diverged",
          state_.step);
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
