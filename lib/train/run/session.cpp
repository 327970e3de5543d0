#include "lib/train/run/session.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include "lib/base/figure.h"
#include "lib/base/split.h"
#include "lib/train/options/schedule.h"

namespace tx {

int Session::run() {
  const int status = train();
  run_.end();
  return status;
}

int Session::train() {
  SignalWatch signals;  // an earlier signal ends the process: there is nothing to save yet
  signals_ = &signals;
  if (former_.step >= 0)
    checkpoints_.resume(former_.step, former_.best, good_before(), former_.keep, former_.due_best);
  if (finished() && state_.unfinished == Unfinished::nothing) {
    log_.info("nothing to do: " + limit_reached() + " ended this run at step " +
              std::to_string(state_.step) + "; raise that limit to continue");
    return 0;
  }
  begin();
  try {
    finish_interrupted();
    loop(signals);
    end();
  } catch (const Diverged&) {
    throw;
  } catch (const Error& e) {
    const std::string save = checkpoints_.finish_failed();
    throw Error(e.what() + save, checkpoints_.resume_hint());
  }
  return signals.stop() ? 128 + signals.stop() : 0;
}

// Everything that can fail for lack of memory or disk space does so before the first step.
void Session::begin() {
  checkpoints_.report_disk_space(log_);
  run_.rehearse();
  const double used = progress_.seconds(), left = 60 * options_.minutes - used;
  if (options_.minutes > 0 && resumed())
    log_.info(minutes_limit(options_) + ": " + figure(used / 60, 1) + " used, " +
              figure(left / 60, 1) + " left");
  else if (options_.minutes > 0 && left <= 0)
    throw UsageError(minutes_limit(options_) + " is too short: preparation took " +
                     figure(used, 1) + " seconds");
  if (options_.profile) run_.backend()->start_profile();
  directory_.write_config(config_);
  const Validator& validator = validator_;
  if (!validator.replaced().empty()) {
    log_.warn("models are now compared by " + validator.criterion() + " instead of " +
              validator.replaced() + ": the best model and --patience start again");
    directory_.unlink("best");
  }
  if (checkpoints_.saved() < 0) {  // so that a killed run can be resumed
    save(false);
    checkpoints_.finish_save();
  }
  directory_.keep();
}

void Session::loop(SignalWatch& signals) {
  while (!finished() && signals.stop() == 0) {
    const std::optional<Rewind> back = step();
    checkpoints_.poll();
    if (back)
      go_back(*back);
    else
      after_step(signals.take_save());
  }
}

// The limit that finished() found.
std::string Session::limit_reached() const {
  if (options_.steps > 0 && state_.step >= options_.steps)
    return "--steps " + std::to_string(options_.steps);
  if (options_.epochs > 0 && run_.feed().epoch() >= options_.epochs)
    return "--epochs " + std::to_string(options_.epochs);
  if (validator_.out_of_patience()) return "--patience";
  return minutes_limit(options_) + " (" + figure(progress_.seconds() / 60, 1) + " used)";
}

bool Session::finished() const {
  return (options_.steps > 0 && state_.step >= options_.steps) ||
         (options_.epochs > 0 && run_.feed().epoch() >= options_.epochs) ||
         (options_.minutes > 0 && state_.step > 0 &&
          progress_.seconds() >= 60 * options_.minutes) ||
         validator_.out_of_patience();
}

std::optional<Session::Rewind> Session::step() {
  const auto begin = std::chrono::steady_clock::now();
  const Feed& feed = run_.feed();
  const int64_t number = state_.step + 1;
  const double rate = learning_rate(options_, run_.whole().config().d_model, number);
  const double limit = spikes_.limit();
  StepRecord record = run_.step(number, rate, limit);
  train_nll_ = record.nll / double(record.labels);
  state_.step = number;
  again_ = unscored_ = false;
  validator_.go_on();
  std::optional<Rewind> back;
  if (record.skip) back = incident(record);
  spikes_.add(record);
  StepDone done{record, feed.batches().back().epoch};
  for (const Batch& batch : feed.batches())
    for (const int64_t rows : batch.tokens) done.tokens += rows;
  state_.skipped += record.skip;
  state_.tokens += done.tokens;
  if (back) return back;
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  done.total_tokens = state_.tokens;
  done.skipped = state_.skipped;
  if (options_.log_gradients && number % options_.log_every == 0)
    done.gradient_norms = run_.gradient_norms();
  progress_.add(done);
  return {};
}

// Only validations due at this step number count for --patience and the best model. A signal or the
// clock only saves: a run that is stopped and resumed must stay bit-identical.
void Session::after_step(bool save_wanted) {
  const bool overdue = checkpoints_.overdue();
  if (checkpoints_.due(state_.step)) return checkpoint();
  if (validation_due() && !validate()) return;
  unscored_ = overdue || save_wanted;
  if (unscored_ || validator_.best() == state_.step) save(false);
}

// Completes the step after which the run was stopped.
void Session::finish_interrupted() {
  const Unfinished left = std::exchange(state_.unfinished, Unfinished::nothing);
  again_ = left == Unfinished::validation;
  if (again_) after_step(false);
  if (left == Unfinished::score && !options_.valid_command.empty())
    checkpoints_.score_again(state_.step, [this](const auto& write_state) { score(write_state); });
}

void Session::end() {
  ending_ = true;
  progress_.flush();
  checkpoints_.finish_save();
  const int64_t step = state_.step;
  const bool saved = checkpoints_.saved() == step;
  if (finished() && (again_ || unscored_ || !saved)) {
    if (!run_.spec().corpora.valid || validator_.found(step) || validate()) save(true);
  } else if (!saved) {
    save(false);
  }
  checkpoints_.finish_save();
  report();
  const int signal = signals_->stop();
  if (!signal)
    report_result();
  else
    log_.info("stopped by signal " + signal_name(signal) + " after step " + std::to_string(step) +
              "; resume with: tx-train --resume " + shell_word(directory_.path()));
}

namespace {

// The text of --profile. On a CPU, whose calls are synchronous, it includes the parts of a step.
std::string profile(Backend& backend, const StepTimes& t, double seconds) {
  std::string text = backend->profile_report();
  if (backend->has_own_memory()) return text;
  char parts[240];
  std::snprintf(parts, sizeof parts, "forward %.1f s, backward %.1f s, update %.1f s of %.1f s",
                t.forward, t.backward, t.update, seconds);
  return text + parts;
}

}  // namespace

void Session::report() {
  const PairLengths& lengths = run_.feed().lengths();
  std::vector<double> tokens;  // of each side
  for (int side = 0; side < lengths.sides(); ++side)
    tokens.push_back(double(state_.tokens) * double(lengths.rows(side)) /
                     double(run_.feed().epoch_tokens()));
  progress_.end(state_.step, state_.tokens, state_.skipped,
                step_flops(run_.whole().config(), tokens) * options_.passes());
  if (options_.profile)  // printed with --quiet too
    Log(log_.tool()).info(profile(run_.backend(), run_.times(), progress_.here_seconds()));
}

// The last line: the best model's score, and how to use it.
void Session::report_result() const {
  const ModelKind kind = run_.whole().config().kind;
  const bool denoises = !run_.spec().corpora.sentinels.empty();
  std::string use = denoises ? "restore text" : "translate", options;
  if (kind == ModelKind::decoder) use = "continue text";
  if (kind == ModelKind::encoder) use = "compute sentence vectors", options = " --embed mean";
  const std::string best = validator_.best_text();
  log_.info((best.empty() ? "" : "best model: " + best + "; ") + use + " with: tx-decode -m " +
            shell_word(directory_.path()) + options);
}

}  // namespace tx
