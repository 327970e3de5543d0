#include "lib/train/session.h"

#include <algorithm>
#include <cstdio>

#include "lib/base/error.h"
#include "lib/base/figure.h"

namespace tx {

void Session::load(int64_t step) {
  const ModelReader reader(run_.model(step));
  reader.load(*parameters_);
  const Json state = load_state(run_.state(step), *parameters_, reader.checksum());
  restore(state);
  former_best_ = Validator::best_of(state);
  unfinished_ = state.value("unfinished", std::string());
  progress_.resume(run_.cut_log(step));
  log_.info("resuming " + run_.path() + " after step " + std::to_string(step));
}

bool Session::finished() const {
  return (options_.steps > 0 && step_ >= options_.steps) ||
         (options_.epochs > 0 && packer_->epoch() >= options_.epochs) ||
         (options_.minutes > 0 && seconds() >= 60 * options_.minutes) ||
         validator_.out_of_patience();
}

// Whether --save-every asked for a checkpoint at `step`, when the run was there.
bool Session::on_schedule(int64_t step) const {
  int64_t every = options_.save_every;
  for (const Json& before : config_.value("saves_before", Json::array())) {
    if (step > before.at("until").get<int64_t>()) continue;
    every = before.at("every").get<int64_t>();
    break;
  }
  return every == 0 || step % every == 0;
}

// As the run stood when it was killed, which may have been between a save and its end. What --keep
// asks for now comes with the first new checkpoint: a run that has nothing to do loses nothing.
void Session::tidy_resumed() {
  const int before = run_.read_config().at("options").value("keep", 0);
  tidy(saved_step_, former_best_, good_before(), std::max(options_.keep, before));
}

// The best so far was chosen by something else: it is the best no more.
void Session::judge_anew() {
  log_.warn("models are compared by " + validator_.criterion() + " from here on, no longer by " +
            validator_.replaced() + ": the best model and --patience start anew");
  run_.unlink("best");
}

int Session::loop() {
  SignalWatch signals;  // before this a signal just ends the process: nothing is lost
  signals_ = &signals;
  if (saved_step_ >= 0) tidy_resumed();
  if (finished() && unfinished_.empty()) {
    log_.info("nothing to do: the run is already at step " + std::to_string(step_) +
              ", where its limits end it; raise --steps, --epochs, --minutes or --patience");
    return 0;
  }
  check_room();
  stepper_->rehearse(worst_batch(*corpora_.train, capacities_, growth()));
  start_profile();
  run_.write_config(config_);
  if (!validator_.replaced().empty()) judge_anew();
  if (saved_step_ < 0) save(false), settle();  // from here on a killed run can be resumed
  run_.keep();
  try {
    const std::string left = std::exchange(unfinished_, "");
    again_ = left == "validation";
    if (left == "score") score_again();
    if (again_) after_step(false);
    steps(signals);
    end(signals.stop());
  } catch (const Diverged&) {
    throw;
  } catch (const Error& e) {
    settle();
    throw Error(std::string(e.what()) + "\n" + way_back());
  }
  return signals.stop() ? 128 + signals.stop() : 0;
}

void Session::steps(SignalWatch& signals) {
  while (!finished() && signals.stop() == 0) {
    one_step();
    if (saver_->done()) settle();
    if (rewind_to_ < 0)
      after_step(signals.take_save());
    else
      go_back(rewind_to_);
  }
}

void Session::one_step() {
  const auto begin = std::chrono::steady_clock::now();
  if (!ahead_) read_ahead();
  batches_.swap(next_);
  packer_ = std::move(ahead_);
  stepper_->launch(batches_, step_ + 1, schedule_.rate(step_ + 1), spikes_.limit());
  read_ahead();  // while a GPU computes
  record_ = stepper_->finish();
  ++step_;
  again_ = false;
  if (record_.skip) incident();
  spikes_.add(record_);
  StepDone done{record_, batches_.back().epoch, count_step()};
  if (rewind_to_ >= 0) return;
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  done.total_tokens = tokens_;
  done.skipped = skipped_;
  progress_.add(done);
}

// The batches of the next step. packer_ stays where it stands: a checkpoint must not lose them.
void Session::read_ahead() {
  ahead_ = std::make_unique<Packer>(*packer_);
  size_t count = 0;  // the last step of the last epoch may have fewer batches than the others
  next_.resize(size_t(options_.accumulate));
  while (count < next_.size() && ahead_->next(next_[count])) ++count;
  next_.resize(count);
}

int64_t Session::count_step() {
  int64_t tokens = 0;
  for (const Batch& batch : batches_)
    for (const int64_t rows : batch.tokens) tokens += rows;
  skipped_ += record_.skip;
  tokens_ += tokens;
  return tokens;
}

// Only what the step's number asks for counts for patience and the best; what a signal or the clock
// asks for saves and changes nothing, so that a run stopped and resumed stays the same run.
void Session::after_step(bool save_wanted) {
  const auto since = std::chrono::steady_clock::now() - last_save_;
  const bool by_clock = options_.save_minutes > 0 &&
                        std::chrono::duration<double>(since).count() >= 60 * options_.save_minutes;
  const bool scheduled = due(options_.save_every) || (by_clock && options_.save_every == 0);
  if (scheduled) {
    checkpoint();
    return;
  }
  if (corpora_.valid && due(options_.valid_every) && !judge()) return;
  if (by_clock || save_wanted || validator_.best() == step_) save(false);
}

void Session::end(int signal) {
  progress_.flush();
  settle();
  if (finished() && (again_ || saved_step_ != step_)) {
    if (!corpora_.valid || validator_.found(step_) || judge()) save(true);
  } else if (saved_step_ != step_) {
    save(false);
  }
  settle();
  report_end();
  if (signal)
    log_.info("stopped by signal " + signal_name(signal) + " after step " + std::to_string(step_) +
              "; go on with: tx-train --resume " + run_.path());
}

void Session::report_end() {
  const IdCache& text = *corpora_.train;
  const double share = double(text.tokens(0) + text.pairs()) / double(epoch_tokens());
  progress_.end(
      step_, tokens_, skipped_,
      step_flops(parameters_->config(), double(tokens_) * share, double(tokens_) * (1 - share)));
  if (options_.profile) report_profile();
}

// By groups of kernels where the backend times them, else by the parts of a step.
void Session::report_profile() {
  const std::string groups = on(backend_, [](auto& k) { return k.profile_report(); });
  if (!groups.empty()) return log_.info(groups);
  const StepTimes& t = stepper_->times();
  char text[240];
  std::snprintf(text, sizeof text, "forward %.1f s, backward %.1f s, update %.1f s of %.1f s",
                t.forward, t.backward, t.update, progress_.here_seconds());
  log_.info(text);
}

Json Session::state() const {
  Json state{{"step", step_}, {"skipped", skipped_}, {"tokens", tokens_}};
  state.update(spikes_.state());
  state.update(validator_.state(step_));
  state["packer"] = packer_->state();
  if (!unfinished_.empty()) state["unfinished"] = unfinished_;
  return state;
}

void Session::restore(const Json& state) try {
  step_ = saved_step_ = state.at("step").get<int64_t>();
  skipped_ = state.at("skipped").get<int64_t>();
  tokens_ = state.at("tokens").get<int64_t>();
  spikes_.restore(state);
  validator_.restore(state);
  packer_->restore(state.at("packer"));
  ahead_.reset();
} catch (const Json::exception&) {
  throw DataError(run_.path() + ": the state of its last checkpoint is damaged");
}

}  // namespace tx
