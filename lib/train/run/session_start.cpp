// What a session begins with: its parts, and what its checkpoint holds.
#include "lib/base/error.h"
#include "lib/base/resources.h"
#include "lib/checkpoint/judgement.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"
#include "lib/train/run/session.h"
#include "lib/train/run/time_budget.h"

namespace tx {

namespace {

// Members of a model's provenance that a resumed run gives again: no times, no host.
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

// The log of a run that stands at `step`, where `options` are those that it had, has lines up to
// the last step that --log-every asks for.
void check_log_end(int64_t found, int64_t step, const Json& options, const std::string& file,
                   const Log& log) {
  const int64_t every = options.value("log-every", int64_t(0));
  if (every <= 0 || found >= step / every * every) return;
  log.warn(file +
           (found > 0 ? " ends at step " + std::to_string(found) : std::string(" has no lines")) +
           ", but the run was at step " + std::to_string(step) +
           ": the lines between are missing, and the time that they took is not counted");
}

// The batches of a resumed run stay as they are. The limit it began with held then; what a program
// takes beside its plan differs from start to start.
void check_new_limit(const TrainOptions& options, const Json& former, size_t planned) {
  const bool same = former.at("options").value("memory", "") == options.memory;
  if (options.memory.empty() || same) return;
  if (int64_t(planned) > parse_size(options.memory, "--memory"))
    throw UsageError("--memory " + options.memory +
                     " is too little for the batches of this run: " + size_text(planned) +
                     " would do" + (options.recompute ? "" : ", less with --recompute"));
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
  config_["batch_tokens_resolved"] = run_.spec().batch_tokens;  // what free memory chose stays
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
  const Json saved =
      load_state(directory_.state(step), run_.whole(), run_.whole_moments(), reader.checksum());
  state_ = TrainState::from_json(saved, directory_.state(step));
  spikes_.restore(saved);
  validator_.restore(saved);
  run_.set_feed(Json{{"packer", saved.at("packer")}});
  const Json& options = config.at("options");
  former_ = {step, Validator::best_of(saved), options.value("keep", 0)};
  const RunDirectory::LogEnd end = directory_.cut_log(step);
  check_log_end(end.step, step, options, directory_.file("log.jsonl"), log_);
  progress_.resume(end.seconds);
  log_.info("resuming " + directory_.path() + " after step " + std::to_string(step));
} catch (const Json::exception&) {
  throw DataError(directory_.path() + ": the state of its last checkpoint is damaged");
}

void Session::fit_to_minutes(TrainOptions& options, const Options& given) {
  tx::fit_to_minutes(run_, progress_, options, given, log_);
  config_["options"] = given.to_json();
}

}  // namespace tx
