#include "lib/train/run/parts.h"

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/checkpoint/judgement.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"
#include "lib/subword/mapped.h"
#include "lib/tensor/precision.h"

namespace tx {

TrainingParts::TrainingParts(const TrainOptions& options, RunDirectory directory, TrainingData data,
                             int64_t resume_at, const Json& settings, const Log& log,
                             Leader of_ranks)
    : leader(of_ranks),
      run(std::move(directory)),
      config(settings),
      vocabularies(std::move(data.vocabularies)),
      corpora(std::move(data.corpora)),
      backend(make_backend(options.device, options.threads)),
      progress(
          options, run.file("log.jsonl"), [this](const Json& line) { return run.append_log(line); },
          log),
      spikes(options),
      validator(options,
                options.kind == ModelKind::decoder && corpora.valid ? corpora.valid->report().text
                                                                    : TextTally()) {
  const bool resumed = resume_at != begin;
  tune(options.tune, log);
  const size_t program = anonymous_bytes();
  build_model(options, resume_at);
  build_scorer(options, data.scorer);
  const PlannedRun planned{backend,
                           trained(),
                           *transformer,
                           options,
                           {program + kept_bytes(), scorer ? scorer->bytes() : 0},
                           leader.grid().share().ranks};
  build_feed(options, planned);
  stepper = std::make_unique<Stepper>(backend, trained(), *transformer, options);
  leader.share(*stepper);
  if (resumed) load(resume_at, log);
  reserve(options, planned, resumed, log);
  provenance = provenance_of(options, config, *corpora.train);
  checkpoints = std::make_unique<Checkpointer>(
      run, *parameters, vocabularies, options, config,
      [this](int64_t step) {
        progress.write(Json{{"step", step},
                            {"checkpoint", "model-" + std::to_string(step) + ".safetensors"},
                            {"seconds", progress.seconds()}});
      },
      [this] { return leader.moments(*this); });
}

void TrainingParts::rehearse() {
  if (std::exchange(rehearsed_, true)) return;
  stepper->rehearse(worst_batch(feed->lengths(), feed->capacities(), feed->growth()));
}

// With --tune a GPU's products are computed by what was fastest when the run began; a resumed run
// keeps it, and with it every bit.
void TrainingParts::tune(bool measure, const Log& log) {
  on(backend, [&](auto& k) {
    if (config.contains("products")) {
      try {
        return k.set_tuning(config["products"].template get<std::string>());
      } catch (const Error& e) {
        log.warn(std::string(e.what()) + ": they are chosen again, last bits may differ");
      }
    }
    if (measure) k.set_tuning("measure");
  });
}

void TrainingParts::build_model(const TrainOptions& options, int64_t resume_at) {
  ModelConfig model = options.model_config();
  model.set_vocabularies(vocabularies.sizes());
  if (resume_at != begin) model = ModelReader(run.model(resume_at)).config();
  model.resolve();
  if (model.shares_embeddings() && !vocabularies.shared() &&
      !list_same_pieces(vocabularies.source(), vocabularies.target()))
    throw UsageError("--tie " + model.tie.name +
                     " needs one vocabulary for both sides, but --vocab-src and --vocab-tgt "
                     "differ: use --tie target");
  const int longest = longest_sentence(Feed::growth(options));
  if (model.learned_positions() && longest > model.max_positions - model.position_offset)
    throw UsageError("--max-positions " + std::to_string(model.max_positions) +
                     " is less than the longest sentence, " + std::to_string(longest) +
                     " with its end: raise it, or lower --max-length");
  const DType dtype = precision_dtype(options.precision);
  if (const ModelPart own = leader.grid().part(); own.whole()) {
    parameters = std::make_unique<Parameters>(backend, model, dtype, true, leader.grid().share());
  } else {
    check_parts(model, own.count);
    parameters = std::make_unique<Parameters>(backend, model, dtype, Parameters::Kept());
    part = std::make_unique<Parameters>(backend, model, dtype, true, leader.grid().share(), own);
  }
  if (resume_at == begin && options.init.empty())
    parameters->initialise(options.mask_seed());
  else if (resume_at == begin)
    ModelReader(resolve_model(options.init)).load(*parameters);
  transformer = std::make_unique<Transformer>(backend, trained(), std::max(longest_dummy, longest));
}

// Tokens of a sentence with its end, over all sides and texts.
int TrainingParts::longest_sentence(int growth) const {
  int longest = 0;
  for (const PairLengths& text : corpora.lengths()) {
    const int times = &text.cache() == corpora.train.get() ? growth : 1;
    for (int side = 0; side < text.sides(); ++side)
      longest = std::max(longest, times * text.longest(side) + 1);
  }
  return longest;
}

// What the whole model takes beside a part.
size_t TrainingParts::kept_bytes() const {
  const Matrix block = parameters->master();
  return part ? 3 * size_t(block.cols) * size_of(block.dtype) : 0;
}

void TrainingParts::build_scorer(const TrainOptions& options, const MakeTranslationScorer& make) {
  TranslationTask task = read_translation_task(options, config);
  if (task.metrics.empty()) return;
  task.vocabularies = vocabularies;
  task.ranks = leader.ranks();
  translated = task.sources;
  scorer = make(*parameters, std::move(task));
}

void TrainingParts::build_feed(const TrainOptions& options, const PlannedRun& planned) {
  const int batch_tokens = config.contains("batch_tokens_resolved")
                               ? config["batch_tokens_resolved"].get<int>()
                               : resolve_batch_tokens(planned, shape_of(corpora.train_lengths()));
  config["batch_tokens_resolved"] = batch_tokens;  // what free memory chose stays chosen
  feed = std::make_unique<Feed>(*corpora.train, vocabularies, options, batch_tokens,
                                corpora.sentinels);
  progress.expect_tokens(options.epochs * feed->epoch_tokens());
  // A pair that is too long is told now, not at the first save.
  if (corpora.valid)
    valid_pass = std::make_unique<ValidPass>(*corpora.valid, feed->capacities(),
                                             options.kind == ModelKind::encoder, corpora.sentinels);
}

namespace {

// The log of a run that stands at `step`, where `options` are those that it had, has lines up to
// the last step that --log-every asks for.
void check_log_end(int64_t found, int64_t step, const Json& options, const std::string& file,
                   const Log& log) {
  const int64_t every = options.at("log-every").get<int64_t>();
  if (every <= 0 || found >= step / every * every) return;
  log.warn(file +
           (found > 0 ? " ends at step " + std::to_string(found) : std::string(" has no lines")) +
           ", but the run was at step " + std::to_string(step) +
           ": the lines between are missing, and the time that they took is not counted");
}

}  // namespace

void TrainingParts::load(int64_t step, const Log& log) try {
  const ModelReader reader(run.model(step));
  reader.load(*parameters);
  const Json saved = load_state(run.state(step), *parameters, whole_moments(), reader.checksum());
  state = TrainState::from_json(saved, run.state(step));
  spikes.restore(saved);
  validator.restore(saved);
  feed->restore(saved);
  const Json options = run.read_config().at("options");
  former = {step, Validator::best_of(saved), options.at("keep").get<int>()};
  const RunDirectory::LogEnd end = run.cut_log(step);
  check_log_end(end.step, step, options, run.file("log.jsonl"), log);
  progress.resume(end.seconds);
  log.info("resuming " + run.path() + " after step " + std::to_string(step));
} catch (const Json::exception&) {
  throw DataError(run.path() + ": the state of its last checkpoint is damaged");
}

namespace {

// The batches of a resumed run stay as they are. The limit it began with held then; what a program
// takes beside its plan differs from start to start.
void check_new_limit(const TrainOptions& options, const Json& former, size_t planned) {
  const bool same = former.at("options").at("memory") == options.memory;
  if (options.memory.empty() || same) return;
  if (int64_t(planned) > parse_size(options.memory, "--memory"))
    throw UsageError("--memory " + options.memory +
                     " is too little for the batches of this run: " + size_text(planned) +
                     " would do" + (options.recompute ? "" : ", less with --recompute"));
}

}  // namespace

void TrainingParts::reserve(const TrainOptions& options, const PlannedRun& planned, bool resumed,
                            const Log& log) {
  const std::vector<int>& capacities = feed->capacities();
  const size_t arena = Stepper::plan(backend, trained(), *transformer, options, capacities);
  const std::string products = on(backend, [](auto& k) { return k.tuning(); });
  if (options.tune && !products.empty()) config["products"] = products;
  const MemoryPlan memory = plan_memory(planned, capacities);
  log.info(
      "memory plan: " + std::to_string(memory.total() >> 20) + " MiB; " +
      std::to_string(parameter_count(parameters->config())) + " parameters, batches of " +
      by_side(parameters->config(), capacities, " and ") + " pieces, " + options.precision + ", " +
      (options.device == "cuda" ? "on the GPU" : counted(options.threads, "thread")) +
      (leader.ranks() > 1 ? " on each of " + std::to_string(leader.ranks()) + " ranks" : "") +
      (part ? ", which have " + std::to_string(part->part().count) + " parts of each layer" : ""));
  check_device_memory(backend, memory);
  if (resumed) check_new_limit(options, run.read_config(), memory.total());
  stepper->reserve(arena, options.accumulate);
  if (scorer) scorer->reserve();
}

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

}  // namespace tx
