// Validating and saving. The order of a save (lib/README.md): validate in memory, model,
// --valid-command on it, state, links, prune: a crash between any two leaves the last complete pair
// in place.
#include <algorithm>
#include <cmath>
#include <exception>

#include "lib/base/error.h"
#include "lib/base/failpoint.h"
#include "lib/base/figure.h"
#include "lib/checkpoint/judgement.h"
#include "lib/train/session.h"
#include "lib/train/valid_command.h"

namespace tx {

// Measures the model; where that is stopped or fails, it is saved first: what is resumed from there
// measures it again.
bool Session::judge() {
  std::exception_ptr failure;
  try {
    if (validate()) return true;
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  unfinished_ = "validation";
  save(false);
  settle();
  if (failure) std::rethrow_exception(failure);
  return false;
}

bool Session::validate() {
  const auto evaluate = [this](const Batch& batch, StepRecord& sums) {
    stepper_->evaluate(batch, sums);
  };
  const std::unique_ptr<Packer> pass = Validator::packer(*corpora_.valid, capacities_);
  const auto translate = [this] {
    return scorer_->score([this] { return signals_->stop() != 0; });
  };
  const Validation* found = validator_.measure(step_, *pass, evaluate, translate);
  if (!found) return false;
  Json line{{"step", step_}};
  line.update(validator_.report(step_));
  line["seconds"] = seconds();
  log(line);
  std::string translated;
  for (const auto& [name, score] : found->translated)
    translated += ", " + name + " " + figure(score, 2);
  log_.info("step " + std::to_string(step_) + ": validation loss " + figure(found->loss, 4) +
            ", perplexity " + figure(std::exp(found->nll), 3) + ", accuracy " +
            figure(found->accuracy, 4) + translated);
  return true;
}

void Session::checkpoint() {
  if (corpora_.valid && (options_.valid_every == 0 || due(options_.valid_every)) && !judge())
    return;
  save(true);
}

// What a save writes but for the parameters, as it is when the save begins.
struct Session::Snapshot {
  int64_t step;
  Json provenance, state;
  int64_t best;  // its step, -1: none yet
  int64_t good;  // weights of steps before this one are known to be good
};

Session::Snapshot Session::snapshot() const {
  return {step_, provenance(), state(), validator_.best(), good_before()};
}

// Whether an update broke the weights shows in the step behind it: while training goes on, or when
// the last steps were not finite, a checkpoint of before that update is kept.
int64_t Session::good_before() const {
  return finished() && spikes_.not_finite() == 0 ? step_ + 1 : step_ - spikes_.not_finite();
}

// Begins a save; where a thread writes it, training goes on at once. `scored`: --valid-command
// judges this model. Its score is part of the state and may end the run, so that it is waited for.
void Session::save(bool scored) {
  settle();
  check_weights();
  last_save_ = std::chrono::steady_clock::now();
  saving_step_ = step_;
  if (scored) again_ = false;
  if (scored && !options_.valid_command.empty()) {
    saver_->begin([this](const Parameters& p) { write_scored(p, write_model(p, snapshot())); });
    return settle();
  }
  saver_->begin(
      [this, now = snapshot()](const Parameters& p) { write_state(p, now, write_model(p, now)); });
  if (saver_->done()) settle();
}

// Weights that are not finite never become so again, and no checkpoint of them may take the place
// of a good one.
void Session::check_weights() {
  if (stepper_->weights_finite()) return;
  const std::string found = "not all weights are finite";
  if (saved_step_ < 0) throw DataError("--init " + options_.init + ": " + found);
  give_up("step " + std::to_string(step_) + ": " + found + ": the training has diverged", step_);
}

// The end of a save: from here on it is the one to go on from. One that failed leaves the
// checkpoint before it; what was written of this one only takes room.
void Session::settle() {
  if (saving_step_ < 0) return;
  const int64_t step = std::exchange(saving_step_, -1);
  try {
    saver_->settle();
  } catch (const Error&) {
    if (whole_step_ == step)
      saved_step_ = step;  // what failed came behind it
    else if (saved_step_ >= 0 && saved_step_ != step)
      run_.discard(step);
    throw;
  }
  saved_step_ = step;
  log(Json{{"step", step},
           {"checkpoint", "model-" + std::to_string(step) + ".safetensors"},
           {"seconds", seconds()}});
}

// What of the run is left when it fails.
std::string Session::way_back() const {
  const bool there = file_exists(run_.model(saved_step_)) && file_exists(run_.state(saved_step_));
  return "the checkpoint of step " + std::to_string(saved_step_) +
         (there ? " is whole; go on from it with: tx-train --resume " + run_.path()
                : " is gone too: " + run_.path() + " vanished, or is no longer mounted");
}

std::string Session::write_model(const Parameters& parameters, const Snapshot& now) const {
  const std::string checksum =
      save_model(run_.model(now.step), parameters, vocabularies_, now.provenance);
  failpoint("model");
  return checksum;
}

// Has --valid-command judge the model that was written, and writes the state with its score. A stop
// that comes meanwhile, or a score that is none, leaves a state that says so: what is resumed from
// it asks the command again, and ends as a run that was never stopped.
void Session::write_scored(const Parameters& parameters, const std::string& checksum) {
  const auto write_unscored = [&] {
    unfinished_ = "score";
    write_state(parameters, snapshot(), checksum);
  };
  ValidCommand command{options_.valid_command, options_.valid_timeout};
  command.stop = [this] { return signals_->stop() != 0; };
  command.ending = write_unscored;
  CommandScore found;
  try {
    found = run_valid_command(command, run_.model(step_), log_);
  } catch (const DataError&) {
    write_unscored();
    throw;
  }
  if (found.stopped) return;
  unfinished_.clear();
  if (found.score) {
    log(Json{{"step", step_}, {"validation_score", *found.score}, {"seconds", seconds()}});
    log_.info("step " + std::to_string(step_) + ": validation score " +
              std::to_string(*found.score));
  }
  validator_.take_command_score(step_, found.score);
  write_state(parameters, snapshot(), checksum);
}

// The command of the step that was stopped while it was asked; its model is whole.
void Session::score_again() {
  if (options_.valid_command.empty()) return;
  saving_step_ = step_;
  saver_->begin(
      [this](const Parameters& p) { write_scored(p, ModelReader(run_.model(step_)).checksum()); });
  settle();
}

void Session::write_state(const Parameters& parameters, const Snapshot& now,
                          const std::string& checksum) {
  failpoint("state");
  save_state(run_.state(now.step), parameters, now.state, checksum);
  whole_step_ = now.step;
  failpoint("links");
  tidy(now.step, now.best, now.good, options_.keep);
}

// Links and pruning; also what a run killed before them is given when it goes on. `best` -1: none.
void Session::tidy(int64_t step, int64_t best, int64_t good, int keep) const {
  run_.link("last", step);
  failpoint("best");
  if (best >= 0 && file_exists(run_.model(best))) run_.link("best", best);
  failpoint("prune");
  run_.prune(keep, step, {best, run_.newest_before(good)},
             [this](int64_t at) { return on_schedule(at); });
}

// Every checkpoint kept, the best, and the one being written.
void Session::check_room() const {
  const int count = options_.keep + 2;
  const int64_t each = parameters_->master().cols * 12, free = free_bytes(run_.path());
  const auto mebibytes = [](int64_t bytes) { return figure(double(bytes) / (1 << 20), 1); };
  const std::string text = "the checkpoints of " + run_.path() + " will need " +
                           mebibytes(each * count) + " MiB (" + std::to_string(count) + " of " +
                           mebibytes(each) + " MiB), " + mebibytes(free) + " MiB are free";
  if (free >= each * count)
    log_.info(text);
  else
    log_.warn(text + "; --keep lowers it");
}

// Only what a resumed run would say the same way: no times, no host.
Json Session::provenance() const {
  Json p{{"command", config_.at("command")},
         {"step", step_},
         {"seed", options_.seed},
         {"data", config_.at("data")},
         {"data_pairs", corpora_.train->pairs()},
         {"tokens", tokens_},
         {"preset", options_.preset},
         {"precision", options_.precision}};
  const std::string& metric = options_.valid_metric.front();
  if (!options_.valid_command.empty())
    p["validation_metric"] = command_metric;
  else if (metric != validation_metrics().front())
    p["validation_metric"] = metric;
  const Validation* found = validator_.found(step_);
  if (found && std::isfinite(found->nll)) p.update(validator_.report(step_));
  return p;
}

}  // namespace tx
