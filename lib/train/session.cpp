#include "lib/train/session.h"

#include <algorithm>
#include <cstdio>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/tensor/precision.h"

namespace tx {

namespace {

ProgressSettings progress_settings(const TrainOptions& options) {
  ProgressSettings p;
  p.log_every = options.log_every;
  p.log_seconds = options.log_seconds;
  p.steps = options.steps;
  p.seconds = 60 * options.minutes;
  const bool large = options.preset == "base" || options.preset == "big";
  p.advice = std::string(large ? "; --preset tiny takes a smaller model, and" : ";") +
             " --steps or --minutes end it earlier, also beside --resume";
  return p;
}

}  // namespace

Session::Session(const TrainOptions& options, RunDirectory run, TrainingData data,
                 int64_t resume_at, const Json& config, const Log& log)
    : options_(options),
      log_(log),
      run_(std::move(run)),
      config_(config),
      vocabularies_(std::move(data.vocabularies)),
      corpora_(std::move(data.corpora)),
      backend_(make_backend(options.device, options.threads)),
      progress_(
          progress_settings(options), run_.file("log.jsonl"),
          [this](const Json& line) { return run_.append_log(line); }, log),
      last_save_(std::chrono::steady_clock::now()),
      spikes_({options.on_spike, options.spike_threshold, options.spike_window, options.spike_floor,
               options.max_skips}),
      validator_({options.patience, options.valid_metric, options.valid_command,
                  options.valid_lines, config.value("judged_by", std::string())}) {
  tune();
  program_ = anonymous_bytes();
  build_model(resume_at);
  build_scorer(data.scorer);
  build_packer();
  if (resume_at != begin) load(resume_at);
  const size_t arena = Stepper::plan(backend_, *parameters_, *transformer_, options_, capacities_);
  stepper_ = std::make_unique<Stepper>(backend_, *parameters_, *transformer_, options_);
  keep_tuning();
  const MemoryPlan memory =
      plan_memory(backend_, *parameters_, *transformer_, options_, capacities_, beside());
  log_.info("memory plan: " + std::to_string(memory.total() >> 20) + " MiB; " +
            std::to_string(parameter_count(parameters_->config())) + " parameters, batches of " +
            std::to_string(capacities_.front()) + " source and " +
            std::to_string(capacities_.back()) + " target pieces, " + options_.precision + ", " +
            (options_.device == "cuda" ? "on the GPU" : counted(options_.threads, "thread")));
  check_device_memory(backend_, memory);
  if (resume_at != begin) check_new_limit(memory.total());
  stepper_->reserve(arena);
  if (scorer_) scorer_->reserve();
  saver_ = std::make_unique<Saver>(*parameters_);
}

// The batches of a resumed run stay as they are. The limit it began with held then; what a program
// takes beside its plan differs from start to start.
void Session::check_new_limit(size_t planned) const {
  const bool same = run_.read_config().at("options").value("memory", "") == options_.memory;
  if (options_.memory.empty() || same) return;
  if (int64_t(planned) > parse_size(options_.memory, "--memory"))
    throw UsageError("--memory " + options_.memory +
                     " is too little for the batches of this run: " + size_text(planned) +
                     " would do" + (options_.recompute ? "" : ", less with --recompute"));
}

// With --tune a GPU's products are computed by what was fastest when the run began; a resumed run
// keeps it, and with it every bit.
void Session::tune() {
  on(backend_, [&](auto& k) {
    if (config_.contains("products")) {
      try {
        return k.set_tuning(config_["products"].template get<std::string>());
      } catch (const Error& e) {
        log_.warn(std::string(e.what()) + ": they are chosen again, last bits may differ");
      }
    }
    if (options_.tune) k.set_tuning("measure");
  });
}

void Session::start_profile() {
  if (options_.profile) on(backend_, [](auto& k) { k.start_profile(); });
}

void Session::keep_tuning() {
  const std::string products = on(backend_, [](auto& k) { return k.tuning(); });
  if (options_.tune && !products.empty()) config_["products"] = products;
}

void Session::build_model(int64_t resume_at) {
  ModelConfig model = options_.model.config;
  model.sides.front().vocabulary = vocabularies_.source->size();
  model.sides.back().vocabulary = vocabularies_.target->size();
  if (resume_at != begin) model = ModelReader(run_.model(resume_at)).config();
  model.resolve();
  if (model.tie == Tie::all && vocabularies_.source->hash() != vocabularies_.target->hash())
    throw UsageError(
        "--tie all needs one vocabulary for both sides, but --vocab-src and --vocab-tgt "
        "differ: use --tie target");
  if (model.learned_positions() && longest_sentence() > model.max_positions)
    throw UsageError("--max-positions " + std::to_string(model.max_positions) +
                     " is less than the longest sentence, " + std::to_string(longest_sentence()) +
                     " with its end: raise it, or lower --max-length");
  parameters_ =
      std::make_unique<Parameters>(backend_, model, precision_dtype(options_.precision), true);
  if (resume_at == begin && options_.init.empty())
    parameters_->initialise(options_.mask_seed());
  else if (resume_at == begin)
    ModelReader(resolve_model(options_.init)).load(*parameters_);
  transformer_ = std::make_unique<Transformer>(backend_, *parameters_,
                                               std::max(longest_dummy, longest_sentence()));
  schedule_ = {options_.schedule, model.d_model, options_.warmup,
               options_.steps,    options_.lr,   options_.lr_factor};
}

void Session::build_scorer(const MakeTranslationScorer& make) {
  TranslationTask task = read_translation_task(options_, config_);
  if (task.metrics.empty()) return;
  task.source = vocabularies_.source;
  task.target = vocabularies_.target;
  scorer_ = make(*parameters_, std::move(task));
}

MemoryBeside Session::beside() const { return {program_, scorer_ ? scorer_->bytes() : 0}; }

// Both sides with the ends of their sentences.
int64_t Session::epoch_tokens() const {
  const IdCache& text = *corpora_.train;
  return text.tokens(0) + text.tokens(1) + 2 * text.pairs();
}

int Session::growth() const { return options_.bpe_dropout > 0 ? PairDropout::most_growth : 1; }

int Session::longest_sentence() const {
  int longest = 0;
  for (const IdCache* cache : {corpora_.train.get(), corpora_.valid.get()}) {
    const int times = cache == corpora_.train.get() ? growth() : 1;
    for (int side = 0; cache && side < cache->sides(); ++side)
      longest = std::max(longest, times * cache->longest(side) + 1);
  }
  return longest;
}

void Session::build_packer() {
  const int batch = config_.contains("batch_tokens_resolved")
                        ? config_["batch_tokens_resolved"].get<int>()
                        : resolve_batch_tokens(backend_, *parameters_, *transformer_, options_,
                                               shape_of(*corpora_.train), beside());
  config_["batch_tokens_resolved"] = batch;  // what a free-memory reading chose stays chosen
  PackerOptions packing;
  packing.batch_tokens = batch;
  packing.seed = options_.seed;
  packing.epochs = options_.epochs;
  if (options_.bpe_dropout > 0)
    bpe_dropout_ = std::make_unique<PairDropout>(
        *corpora_.train,
        std::vector<const Vocabulary*>{vocabularies_.source.get(), vocabularies_.target.get()},
        options_.bpe_dropout, options_.seed, options_.bpe_dropout_epochs);
  packing.dropout = bpe_dropout_.get();
  packer_ = std::make_unique<Packer>(*corpora_.train, packing);
  capacities_ = packer_->capacities();
  progress_.expect_tokens(options_.epochs * epoch_tokens());
  // A pair that is too long is told now, not at the first save.
  if (corpora_.valid) Validator::packer(*corpora_.valid, capacities_);
}

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
