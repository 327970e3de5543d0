#include "lib/train/run/session.h"

#include <cmath>
#include <utility>

#include "lib/base/clock.h"
#include "lib/base/figure.h"
#include "lib/base/split.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/train/run/valid_command.h"

namespace tx {
namespace {

// A model's provenance. A resumed run must write the same: no times, no host.
Json provenance_of(const TrainOptions& options, const Json& config, const IdCache& text) {
  Json p{{"command", config.at("command")},
         {"step", 0},
         {"seed", options.seed},
         {"data", config.at("data")},
         {"data_pairs", text.pairs()},
         {"tokens", 0},
         {"preset", options.preset.name},
         {"precision", options.precision.name}};
  const std::string& metric = options.valid_metric.front();
  if (!options.valid_command.empty())
    p["validation_metric"] = command_metric;
  else if (metric != validation_metrics().front())
    p["validation_metric"] = metric;
  return p;
}

}  // namespace

Session::Session(const TrainOptions& options, RunDirectory directory, const Json& config, Run& run,
                 const Log& log)
    : options_(options),
      log_(log),
      directory_(std::move(directory)),
      config_(config),
      run_(run),
      progress_(
          options, directory_.file("log.jsonl"),
          [this](const Json& line) { return directory_.append_log(line); }, log),
      spikes_(options),
      validator_(options, options.kind == ModelKind::decoder && run.spec().corpora.valid
                              ? run.spec().corpora.valid->report().text
                              : TextTally()),
      provenance_(provenance_of(options, config, *run.spec().corpora.train)),
      checkpoints_(
          directory_, run.whole(), run.spec().vocabularies, options, config,
          [this](int64_t step) {
            progress_.write(Json{{"step", step},
                                 {"checkpoint", "model-" + std::to_string(step) + ".safetensors"},
                                 {"seconds", progress_.seconds()}});
          },
          [&run] { return run.collect(); }) {
  // Of --batch-tokens auto: the resumed run keeps it.
  config_["batch_tokens_resolved"] = run.spec().batch_tokens;
  if (options.tune && !run.spec().products.empty()) config_["products"] = run.spec().products;
  progress_.begin(run.begun());
  progress_.expect_tokens(options.epochs * run.feed().epoch_tokens());
  run.stop_translating([this] { return signals_->stop() != 0; });
}

int Session::run() {
  signals_.emplace();  // an earlier signal ends the process: there is nothing to save yet
  const Unfinished left = state_.unfinished;
  if (!limit_reached().empty() && left == Unfinished::nothing) {
    log_.info("nothing to do: " + limit_reached() + " ended this run at step " +
              std::to_string(state_.step) + "; raise that limit to continue");
    run_.end();
    return 0;
  }
  prepare();
  try {
    state_.unfinished = Unfinished::nothing;
    if (left == Unfinished::score && !options_.valid_command.empty())
      checkpoints_.score_again(state_.step, [this](const auto& write) { score(write); });
    train(left == Unfinished::validation);
    end();
  } catch (const Diverged&) {
    throw;
  } catch (const Error& e) {
    const std::string save = checkpoints_.finish_failed();
    throw Error(e.what() + save, checkpoints_.resume_hint());
  }
  run_.end();
  return signals_->stop() ? 128 + signals_->stop() : 0;
}

// Everything that can fail for lack of memory or disk space does so before the first step.
void Session::prepare() {
  checkpoints_.report_disk_space(log_);
  run_.rehearse();
  check_time();
  if (options_.profile) run_.backend()->start_profile();
  directory_.write_config(config_);
  if (!validator_.replaced().empty()) {
    log_.warn("models are now compared by " + validator_.criterion() + " instead of " +
              validator_.replaced() + ": the best model and --patience start again");
    directory_.unlink("best");
  }
  if (checkpoints_.saved() < 0) {  // so that a killed run can be resumed
    save(false);
    checkpoints_.finish_save();
  }
  directory_.keep();
}

// The training loop. A run that was stopped during a validation begins with that.
void Session::train(bool validates_first) {
  const Feed& feed = run_.feed();
  const bool has_valid = run_.spec().corpora.valid != nullptr;
  for (bool stepped = validates_first;; stepped = false) {
    if (!stepped) {
      // Limits and signals.
      if (!limit_reached().empty() || signals_->stop() != 0) return;

      // The step, on all ranks: the next batches, forward, backward, update.
      const double begin = steady_seconds();
      const int64_t number = state_.step + 1;
      const double rate = learning_rate(options_, run_.whole().config().d_model, number);
      StepRecord record =
          run_.step({.number = number, .rate = rate, .loss_limit = spikes_.limit()});
      state_.step = number;
      stage_ = Stage::unsaved;
      train_nll_ = record.nll / double(record.labels);
      validator_.go_on();

      // Its record. A bad step may take the run back to a checkpoint.
      const bool went_back = record.skip && bad_step(record);
      spikes_.add(record);
      state_.skipped += record.skip;
      state_.tokens += feed.step_tokens();
      if (went_back) continue;
      const bool logs_gradients = options_.log_gradients && number % options_.log_every == 0;
      progress_.add({.record = record,
                     .epoch = feed.batches().back().epoch,
                     .tokens = feed.step_tokens(),
                     .seconds = steady_seconds() - begin,
                     .total_tokens = state_.tokens,
                     .skipped = state_.skipped,
                     .gradient_norms = logs_gradients ? run_.gradient_norms() : Json()});
      checkpoints_.poll();
    }

    // Validation, at its own interval or at every checkpoint. Only what is due at this step number
    // counts for --patience and the best model. A signal or the clock only saves: a run that is
    // stopped and resumed must stay bit-identical.
    const int64_t step = state_.step;
    const bool overdue = checkpoints_.overdue(), wanted = signals_->take_save() || overdue;
    const bool due = checkpoints_.due(step);
    const bool validates = options_.valid_every > 0 ? step % options_.valid_every == 0 : due;
    if (has_valid && validates && !validate()) continue;

    // Checkpoint.
    if (due) {
      save(true);
    } else if (wanted) {
      save(false);
      stage_ = Stage::unscored;
    } else if (validator_.best() == step) {
      save(false);
    }
  }
}

// The limit that ends the run; "" if none is reached.
std::string Session::limit_reached() const {
  const double minutes = progress_.seconds() / 60;
  if (options_.steps > 0 && state_.step >= options_.steps)
    return "--steps " + std::to_string(options_.steps);
  if (options_.epochs > 0 && run_.feed().epoch() >= options_.epochs)
    return "--epochs " + std::to_string(options_.epochs);
  if (validator_.out_of_patience()) return "--patience";
  if (options_.minutes > 0 && state_.step > 0 && minutes >= options_.minutes)
    return minutes_limit(options_) + " (" + figure(minutes, 1) + " used)";
  return "";
}

// Returns false if a signal interrupted it; the resumed run validates the model again.
bool Session::validate() {
  std::exception_ptr failure;
  try {
    if (measure()) return true;
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  save_unvalidated(failure);
  return false;
}

bool Session::measure() {
  constexpr int64_t early = 5;  // epochs in which no model overfits
  const int64_t step = state_.step;
  const Validation* found = validator_.measure(
      step, run_.validate(), [this] { return run_.translate(); }, counts());
  if (!found) return false;
  Json line{{"step", step}};
  line.update(validator_.report(step));
  line["seconds"] = progress_.seconds();
  progress_.write(line);
  log_.info("step " + std::to_string(step) + ": " + validator_.figures(*found));
  // The model of --init may have seen the training text before.
  if (!train_nll_ || !options_.init.empty() || run_.feed().epoch() >= early) return true;
  const std::string warning = validator_.compare_texts(*found, *train_nll_);
  if (!warning.empty()) log_.warn(warning);
  return true;
}

// Whether the comparison of this step's model counts for the best model and --patience of a run
// that continues: it was due at this step number or, with --save-minutes alone, by the clock.
bool Session::counts() const {
  const int64_t every = options_.compared_every();
  return every > 0 ? state_.step % every == 0 : stage_ != Stage::ending;
}

// `scored`: by --valid-command. For the order of a save see lib/train/run/checkpointer.h.
void Session::save(bool scored) {
  checkpoints_.finish_save();
  check_weights();
  if (stage_ != Stage::ending) stage_ = Stage::recorded;
  if (scored && !options_.valid_command.empty())
    checkpoints_.save_scored(content(), [this](const auto& write) { score(write); });
  else
    checkpoints_.save(content());
}

// Runs --valid-command on the saved model and writes the training state with its score; if it is
// stopped, or prints no score, without: the resumed run repeats the command.
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

// Records the last step of a run that a limit ended; one that a signal stopped is only saved.
void Session::end() {
  progress_.flush();
  checkpoints_.finish_save();
  const int64_t step = state_.step;
  const Stage last = std::exchange(stage_, Stage::ending);
  if (limit_reached().empty()) {
    if (last == Stage::unsaved) save(false);
  } else if (last != Stage::recorded) {
    if (!run_.spec().corpora.valid || validator_.found(step) || validate()) save(true);
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
  return text + formatted("forward %.1f s, backward %.1f s, update %.1f s of %.1f s", t.forward,
                          t.backward, t.update, seconds);
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
