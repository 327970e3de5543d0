// Validating and saving. The order of a save (DESIGN): validate in memory, model, --valid-command
// on it, state, links, prune: a crash between any two leaves the last complete pair in place.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "lib/base/error.h"
#include "lib/base/failpoint.h"
#include "lib/train/session.h"
#include "lib/train/valid_command.h"

namespace tx {

std::unique_ptr<Packer> Session::validation_packer() const {
  PackerOptions packing;
  packing.capacities = capacities_;
  packing.batch_tokens = capacities_.back();
  packing.shuffle = false;
  packing.epochs = 1;
  return std::make_unique<Packer>(*corpora_.valid, packing);
}

Validation Session::validate() {
  const std::unique_ptr<Packer> packer = validation_packer();
  StepRecord sums;
  for (Batch batch; packer->next(batch);) stepper_->evaluate(batch, sums);
  const double labels = double(sums.labels);
  return {sums.loss / labels, sums.nll / labels, double(sums.correct) / labels};
}

// Counts patience and remembers the best: the lowest unsmoothed loss, unless --valid-command
// scores.
void Session::judge() {
  valid_ = validate();
  valid_step_ = step_;
  log(Json{{"step", step_},
           {"validation_loss", valid_.loss},
           {"validation_perplexity", std::exp(valid_.nll)},
           {"validation_accuracy", valid_.accuracy},
           {"seconds", seconds()}});
  char text[160];
  std::snprintf(text, sizeof text,
                "step %lld: validation loss %.4f, perplexity %.3f, accuracy %.4f",
                static_cast<long long>(step_), valid_.loss, std::exp(valid_.nll), valid_.accuracy);
  log_.info(text);
  if (options_.valid_command.empty()) consider(valid_.nll);
}

void Session::consider(double score) {
  if (std::isfinite(score) && (!has_best_ || score < best_score_)) {
    has_best_ = true;
    best_score_ = score;
    best_step_ = step_;
    bad_validations_ = 0;
  } else {
    ++bad_validations_;
  }
}

void Session::checkpoint() {
  if (corpora_.valid && (options_.valid_every == 0 || due(options_.valid_every))) judge();
  save(true);
}

// A save that fails leaves the checkpoint before it; what was written of this one only takes room.
void Session::save(bool scored) {
  try {
    write_pair(scored);
  } catch (const IoError& e) {
    if (saved_step_ < 0) throw;
    if (saved_step_ != step_) run_.discard(step_);
    const bool there = file_exists(run_.model(saved_step_)) && file_exists(run_.state(saved_step_));
    throw Error(std::string(e.what()) + "\nthe checkpoint of step " + std::to_string(saved_step_) +
                (there ? " is whole; go on from it with: tx-train --resume " + run_.path()
                       : " is gone too: " + run_.path() + " vanished, or is no longer mounted"));
  }
  last_save_ = std::chrono::steady_clock::now();
}

// `scored`: --valid-command judges this model.
void Session::write_pair(bool scored) {
  const std::string model = run_.model(step_);
  const std::string checksum =
      save_model(model, *parameters_, vocabularies_.source, vocabularies_.target, provenance());
  failpoint("model");
  if (scored && !options_.valid_command.empty()) {
    const std::optional<double> score = run_valid_command(options_.valid_command, model, log_);
    if (score) {
      log(Json{{"step", step_}, {"validation_score", *score}, {"seconds", seconds()}});
      log_.info("step " + std::to_string(step_) + ": validation score " + std::to_string(*score));
    }
    consider(score ? -*score : NAN);
  }
  failpoint("state");
  save_state(run_.state(step_), *parameters_, state(), checksum);
  saved_step_ = step_;
  log(Json{{"step", step_},
           {"checkpoint", "model-" + std::to_string(step_) + ".safetensors"},
           {"seconds", seconds()}});
  failpoint("links");
  tidy();
}

// Links and pruning; also what a run killed before them is given when it goes on.
void Session::tidy() const {
  run_.link("last", saved_step_);
  failpoint("best");
  if (has_best_ && file_exists(run_.model(best_step_))) run_.link("best", best_step_);
  failpoint("prune");
  run_.prune(options_.keep, has_best_ ? best_step_ : saved_step_,
             [this](int64_t step) { return on_schedule(step); });
}

// Every checkpoint kept, the best, and the one being written.
void Session::check_room() const {
  const int64_t each = parameters_->master().cols * 12;
  const int64_t needed = each * (options_.keep + 2), free = free_bytes(run_.path());
  const std::string text =
      "the checkpoints of " + run_.path() + " will need " + std::to_string((needed >> 20) + 1) +
      " MiB (" + std::to_string(options_.keep + 2) + " of " + std::to_string((each >> 20) + 1) +
      " MiB), " + std::to_string(free >> 20) + " MiB are free";
  if (free >= needed)
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
  if (valid_step_ == step_ && std::isfinite(valid_.nll)) {
    p["validation_loss"] = valid_.loss;
    p["validation_perplexity"] = std::exp(valid_.nll);
    p["validation_accuracy"] = valid_.accuracy;
  }
  return p;
}

}  // namespace tx
