// Validating and saving. The order of a save (DESIGN): validate in memory, model, --valid-command on
// it, state, links, prune: a crash between any two leaves the last complete pair in place.
#include <sys/wait.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "lib/base/error.h"
#include "lib/train/session.h"

namespace tx {

Validation Session::validate() {
  PackerOptions packing;
  packing.capacities = capacities_;
  packing.batch_tokens = capacities_.back();
  packing.shuffle = false;
  packing.epochs = 1;
  Packer packer(*corpora_.valid, packing);
  StepRecord sums;
  for (Batch batch; packer.next(batch);) stepper_->evaluate(batch, sums);
  const double labels = double(sums.labels);
  return {sums.loss / labels, sums.nll / labels, double(sums.correct) / labels};
}

// Counts patience and remembers the best: the lowest unsmoothed loss, unless --valid-command scores.
void Session::judge(const Validation& valid) {
  last_valid_ = valid;
  Json line{{"step", step_},
            {"validation_loss", valid.loss},
            {"validation_perplexity", std::exp(valid.nll)},
            {"validation_accuracy", valid.accuracy},
            {"seconds", seconds()}};
  for (Json& x : line)
    if (x.is_number_float() && !std::isfinite(x.get<double>())) x = nullptr;
  run_.append_log(line);
  char text[160];
  std::snprintf(text, sizeof text, "step %lld: validation loss %.4f, perplexity %.3f, accuracy %.4f",
                static_cast<long long>(step_), valid.loss, std::exp(valid.nll), valid.accuracy);
  log_.info(text);
  if (options_.valid_command.empty()) consider(valid.nll);
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

double Session::run_valid_command(const std::string& model) const {
  ::setenv("MODEL", model.c_str(), 1);
  FILE* pipe = ::popen(options_.valid_command.c_str(), "r");
  if (!pipe) throw IoError("run", options_.valid_command, errno);
  std::string text;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const int status = ::pclose(pipe);
  const size_t at = text.find_first_of("0123456789");
  if (status != 0 || at == std::string::npos) {
    log_.warn("--valid-command " +
              (status != 0 ? "ended with status " + std::to_string(WEXITSTATUS(status))
                           : std::string("printed no number")) +
              "; this checkpoint has no score");
    return NAN;
  }
  return std::atof(text.c_str() + (at > 0 && text[at - 1] == '-' ? at - 1 : at));
}

void Session::checkpoint() {
  if (corpora_.valid) judge(validate());
  save();
}

void Session::save() {
  const std::string model = run_.model(step_);
  const std::string checksum =
      save_model(model, *parameters_, vocabularies_.source, vocabularies_.target, provenance());
  if (!options_.valid_command.empty() && step_ > 0) {
    const double score = run_valid_command(model);
    if (std::isfinite(score)) {
      run_.append_log(Json{{"step", step_}, {"validation_score", score}, {"seconds", seconds()}});
      log_.info("step " + std::to_string(step_) + ": validation score " + std::to_string(score));
    }
    consider(-score);
  }
  save_state(run_.state(step_), *parameters_, state(), checksum);
  run_.link("last", step_);
  if (has_best_ && file_exists(run_.model(best_step_))) run_.link("best", best_step_);
  run_.prune(options_.keep, has_best_ ? best_step_ : step_);
  saved_step_ = step_;
  last_save_ = std::chrono::steady_clock::now();
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
  if (corpora_.valid && std::isfinite(last_valid_.nll)) {
    p["validation_loss"] = last_valid_.loss;
    p["validation_perplexity"] = std::exp(last_valid_.nll);
    p["validation_accuracy"] = last_valid_.accuracy;
  }
  return p;
}

}  // namespace tx
