// When a run validates and saves, and what it saves. For the order of a save see
// lib/train/run/checkpointer.h.
#include <cmath>
#include <exception>

#include "lib/base/figure.h"
#include "lib/train/run/session.h"

namespace tx {

bool Session::validation_due() const {
  return run_.spec().corpora.valid && options_.valid_every > 0 &&
         state_.step % options_.valid_every == 0;
}

// Whether the comparison of this step's model counts for the best model and --patience of a run
// that continues: it was due at this step number or, with --save-minutes alone, by the clock.
bool Session::counts() const {
  const int64_t every = options_.compared_every();
  return every > 0 ? state_.step % every == 0 : !ending_;
}

// At --save-every: validates, saves, scores.
void Session::checkpoint() {
  const bool every_save = run_.spec().corpora.valid && options_.valid_every == 0;
  if ((every_save || validation_due()) && !validate()) return;
  save(true);
}

// If validation is stopped or fails, the model is saved, and the resumed run validates it again.
bool Session::validate() {
  std::exception_ptr failure;
  try {
    if (measure()) return true;
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  state_.unfinished = Unfinished::validation;
  try {
    save(false);
    checkpoints_.finish_save();
  } catch (const std::exception&) {
    if (!failure) throw;  // otherwise the first error is reported
  }
  if (failure) std::rethrow_exception(failure);
  return false;
}

bool Session::measure() {
  const int64_t step = state_.step;
  const auto translate = [this] {
    return run_.translate([this] { return signals_->stop() != 0; });
  };
  const Validation* found = validator_.measure(step, run_.validate(), translate, counts());
  if (!found) return false;
  Json line{{"step", step}};
  line.update(validator_.report(step));
  line["seconds"] = progress_.seconds();
  progress_.write(line);
  std::string translated;
  if (validator_.counts_text())
    translated = ", per word " + figure(validator_.word_perplexity(*found), 3) + ", " +
                 figure(validator_.bits_per_byte(*found), 4) + " bits per byte";
  for (const auto& [name, score] : found->translated)
    translated += ", " + name + " " + figure(score, 2);
  log_.info("step " + std::to_string(step) + ": validation loss " + figure(found->loss, 4) +
            ", perplexity " + figure(std::exp(found->nll), 3) + ", accuracy " +
            figure(found->accuracy, 4) + translated);
  compare_texts(found->nll);
  return true;
}

// A model does not overfit in the first epochs. If the validation perplexity is already much
// higher, the two texts differ in kind. Not with --init, whose model may have seen the training
// text before. Warns once.
void Session::compare_texts(double valid_nll) {
  constexpr double max_times = 4;
  constexpr int64_t early = 5;  // epochs
  if (!train_nll_ || !options_.init.empty() || run_.feed().epoch() >= early) return;
  const double times = std::exp(valid_nll - *train_nll_);
  if (texts_compared_ || !(times > max_times)) return;
  texts_compared_ = true;
  log_.warn(
      "validation perplexity is " + figure(times, 1) +
      " times the training perplexity after so few epochs: the two texts differ. If you split a "
      "sorted text, shuffle it first (shuf)");
}

// `scored`: --valid-command scores this model.
void Session::save(bool scored) {
  checkpoints_.finish_save();
  check_weights();
  if (scored) again_ = unscored_ = false;
  if (scored && !options_.valid_command.empty())
    checkpoints_.save_scored(content(), [this](const auto& write_state) { score(write_state); });
  else
    checkpoints_.save(content());
}

// Runs --valid-command on the saved model and writes the training state with its score. If the
// run is stopped meanwhile, or the output is not a score, the state records that, and the resumed
// run repeats the command.
void Session::score(const Checkpointer::WriteState& write_state) {
  const auto write_unscored = [&] {
    state_.unfinished = Unfinished::score;
    write_state(content());
  };
  ValidCommand command{options_.valid_command, options_.valid_timeout};
  command.stop = [this] { return signals_->stop() != 0; };
  command.ending = write_unscored;
  const int64_t step = state_.step;
  CommandScore found;
  try {
    found = run_valid_command(command, directory_.model(step), log_);
  } catch (const Error&) {
    write_unscored();
    throw;
  }
  if (found.stopped) return;
  state_.unfinished = Unfinished::nothing;
  if (found.score) {
    progress_.write(
        Json{{"step", step}, {"validation_score", *found.score}, {"seconds", progress_.seconds()}});
    log_.info("step " + std::to_string(step) + ": validation score " +
              std::to_string(*found.score));
  }
  validator_.take_command_score(step, found.score, counts());
  write_state(content());
}

Checkpointer::Content Session::content() const {
  const int64_t step = state_.step;
  Json provenance = provenance_;
  provenance["step"] = step;
  provenance["tokens"] = state_.tokens;
  const Validation* found = validator_.found(step);
  if (found && std::isfinite(found->nll)) provenance.update(validator_.report(step));
  Json kept = spikes_.state();
  kept.update(validator_.state(step));
  kept.update(run_.feed().state());
  return {step,          provenance,           state_.to_json(kept), validator_.best(),
          good_before(), validator_.due_best()};
}

// An update that breaks the weights shows only in the next step's loss. Until a later step is
// finite, a checkpoint from before the update is kept.
int64_t Session::good_before() const {
  const int broken = spikes_.not_finite();
  return finished() && broken == 0 ? state_.step + 1 : state_.step - broken;
}

// A checkpoint with non-finite weights is useless: it must not replace a good one.
void Session::check_weights() {
  if (run_.weights_finite()) return;
  const std::string found = "not all weights are finite";
  if (checkpoints_.saved() < 0) throw DataError("--init " + options_.init + ": " + found);
  give_up("step " + std::to_string(state_.step) + ": " + found + ": the training has diverged",
          state_.step);
}

}  // namespace tx
