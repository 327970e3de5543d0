// How a session begins: a new run, a resumed run, and --minutes.
#include <cstdio>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/resources.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/checkpoint/state_file.h"
#include "lib/train/options/schedule.h"
#include "lib/train/run/session.h"

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
         {"preset", options.preset},
         {"precision", options.precision}};
  const std::string& metric = options.valid_metric.front();
  if (!options.valid_command.empty())
    p["validation_metric"] = command_metric;
  else if (metric != validation_metrics().front())
    p["validation_metric"] = metric;
  return p;
}

// Warns if log.jsonl does not reach the last multiple of --log-every up to `step`. `options`: those
// of the run before it was resumed.
void check_log_end(int64_t found, int64_t step, const Json& options, const std::string& file,
                   const Log& log) {
  const int64_t every = options.value("log-every", int64_t(0));
  if (every <= 0 || found >= step / every * every) return;
  log.warn(file +
           (found > 0 ? " ends at step " + std::to_string(found) : std::string(" has no lines")) +
           ", but the checkpoint is of step " + std::to_string(step) +
           ": the lines between are missing, and their time is not counted");
}

// A resumed run keeps its batches. An unchanged limit is not checked again, since the memory of the
// program besides the plan varies from start to start.
void check_new_limit(const TrainOptions& options, const Json& former, size_t planned) {
  const bool same = former.at("options").value("memory", "") == options.memory;
  if (options.memory.empty() || same) return;
  if (int64_t(planned) > parse_size(options.memory, "--memory"))
    throw UsageError("--memory " + options.memory +
                     " cannot hold the batches of this run: give --memory " + size_text(planned) +
                     (options.recompute ? "" : ", or less with --recompute"));
}

}  // namespace

Session::Session(const TrainOptions& options, RunDirectory directory, const Json& config,
                 RunSpec spec, const Replicas& replicas, const MakeTranslationScorer& scorer,
                 int64_t from, const Log& log)
    : options_(options),
      log_(log),
      directory_(std::move(directory)),
      config_(config),
      progress_(
          options, directory_.file("log.jsonl"),
          [this](const Json& line) { return directory_.append_log(line); }, log),
      spikes_(options),
      validator_(options, options.kind == ModelKind::decoder && spec.corpora.valid
                              ? spec.corpora.valid->report().text
                              : TextTally()),
      run_(options, std::move(spec), replicas, scorer, log),
      provenance_(provenance_of(options, config, *run_.spec().corpora.train)),
      checkpoints_(
          directory_, run_.whole(), run_.spec().vocabularies, options, config,
          [this](int64_t step) {
            progress_.write(Json{{"step", step},
                                 {"checkpoint", "model-" + std::to_string(step) + ".safetensors"},
                                 {"seconds", progress_.seconds()}});
          },
          [this] { return run_.collect(); }) {
  config_["batch_tokens_resolved"] =
      run_.spec().batch_tokens;  // of --batch-tokens auto: the resumed run keeps it
  if (options.tune && !run_.spec().products.empty()) config_["products"] = run_.spec().products;
  progress_.expect_tokens(options.epochs * run_.feed().epoch_tokens());
  if (from != beginning)
    load(from);
  else if (options.init.empty())
    run_.whole().initialise(options.mask_seed());
  else
    ModelReader(resolve_model(options.init)).load(run_.whole());
  run_.spread(from != beginning);
}

void Session::load(int64_t step) try {
  const Json config = directory_.read_config();
  check_new_limit(options_, config, run_.memory().total());
  const ModelReader reader(directory_.model(step));
  reader.load(run_.whole());
  const Json saved = load_state(directory_.state(step), run_.whole(), run_.whole_optimizer_state(),
                                reader.checksum());
  state_ = TrainState::from_json(saved, directory_.state(step));
  if (state_.step != step)
    throw DataError(directory_.state(step) + " is of step " + std::to_string(state_.step));
  spikes_.restore(saved);
  validator_.restore(saved);
  run_.set_feed(Json{{"packer", saved.at("packer")}});
  const Json& options = config.at("options");
  former_ = {step, Validator::best_of(saved), Validator::due_best_of(saved),
             options.value("keep", 0)};
  const RunDirectory::LogEnd end = directory_.cut_log(step);
  check_log_end(end.step, step, options, directory_.file("log.jsonl"), log_);
  progress_.resume(end.seconds);
  log_.info("resuming " + directory_.path() + " after step " + std::to_string(step));
} catch (const Json::exception&) {
  throw DataError(directory_.path() + ": the training state of its last checkpoint is damaged");
}

namespace {

constexpr double measured_share = 0.02, spare_share = 0.02;  // of the whole time
constexpr double forward_share = 1 / 3.0;  // of a step's time per token, in a validation
constexpr double saved_bytes_per_second = 2e8;

double tokens_of(const std::vector<Batch>& batches) {
  double tokens = 0;
  for (const Batch& batch : batches)
    for (const int64_t rows : batch.tokens) tokens += double(rows);
  return tokens;
}

// Takes steps at rate 0 for a small share of `seconds`, at least one, and resets the run. The first
// step, which sets up libraries and graphs, is not counted if there are others.
Pace measure_pace(Run& run, const ProgressLog& progress, double seconds) {
  const Feed& feed = run.feed();
  const Corpora& corpora = run.spec().corpora;
  const double begin = progress.seconds();
  double first = 0, now = begin, tokens = 0;
  int64_t steps = 0;
  while (steps == 0 || (now - begin < measured_share * seconds && feed.epoch() == 0)) {
    run.step(++steps, 0, 0);
    now = progress.seconds();
    tokens += tokens_of(feed.batches());
    if (steps == 1) first = now;
  }
  run.forget_steps();
  Pace pace;
  pace.step = steps > 1 ? (now - first) / double(steps - 1) : now - begin;
  pace.pause = double(run.whole().fp32_weights().cols) * 12 / saved_bytes_per_second;
  if (corpora.valid) {
    const PairLengths text(*corpora.valid, corpora.sentinels.size());
    double rows = 0;
    for (int side = 0; side < text.sides(); ++side) rows += double(text.rows(side));
    pace.pause += forward_share * rows * pace.step * double(steps) / tokens;
  }
  return pace;
}

}  // namespace

CountSteps Session::counter() const {
  return [this](int64_t epochs, int64_t max) { return run_.feed().steps(epochs, max); };
}

// The run is then bit-identical to one with this number of --steps.
void Session::fit_to_minutes(TrainOptions& options, const Options& given) {
  const double total = 60 * options.minutes;
  run_.rehearse();
  Pace pace = measure_pace(run_, progress_, total);
  pace.every = options.valid_every > 0 ? options.valid_every : options.save_every;
  const double left = total * (1 - spare_share) - progress_.seconds();
  const int64_t steps = steps_in(left, pace);
  char text[40];
  if (steps < 1) {
    const double needed = progress_.seconds() + pace.step + pace.pause;
    std::snprintf(text, sizeof text, "%.2g", needed / 60 / (1 - spare_share));
    throw UsageError(minutes_limit(options) + " is too short: starting and one step take about " +
                     text + " minutes");
  }
  if (steps < options.steps) {
    options.steps = steps;
    std::snprintf(text, sizeof text, "%.3g s", pace.step);
    log_.info(minutes_limit(options) + ": training for " + counted(steps, "step") + " of " + text +
              " each; to train the same model again: --steps " + std::to_string(steps));
  } else {
    log_.info(minutes_limit(options) + " is enough for all " + counted(options.steps, "step") +
              " of preset " + options.preset);
  }
  fit_schedule(options, given);
  note(given);
}

}  // namespace tx
