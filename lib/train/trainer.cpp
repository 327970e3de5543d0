#include "lib/train/trainer.h"

#include <algorithm>
#include <set>

#include "lib/base/error.h"
#include "lib/base/workers.h"
#include "lib/tensor/precision.h"
#include "lib/train/flight.h"
#include "lib/train/parity.h"
#include "lib/train/preset.h"
#include "lib/train/session.h"
#include "lib/train/temporary_folder.h"
#include "lib/train/vocabulary_fit.h"

namespace tx {

namespace {

// What a resumed run may change without becoming another run.
const std::set<std::string> changeable = {
    "steps",           "epochs",       "minutes",       "patience",      "keep",
    "save-every",      "save-minutes", "log-every",     "log-seconds",   "valid-every",
    "valid-metric",    "valid-lines",  "valid-command", "valid-timeout", "on-spike",
    "spike-threshold", "spike-floor",  "max-skips",     "memory",        "threads",
    "recompute",       "device",       "src",           "tgt",           "valid-src",
    "valid-tgt"};

// The text may have moved.
const std::set<std::string> texts = {"src", "tgt", "valid-src", "valid-tgt"};

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "--" : ", --") + word;
  return text;
}

std::string shown(const Json& value) {
  return value.is_string() && !value.get<std::string>().empty() ? value.get<std::string>()
                                                                : to_text(value);
}

// Compares the options given beside --resume with those of the run.
void check_changes(const Json& before, const Json& now, const Log& log) {
  for (const auto& [key, value] : now.items()) {
    if (!before.contains(key) || before[key] == value) continue;
    if (!changeable.count(key))
      throw UsageError("--" + key + " cannot change in a resumed run (it is " + shown(before[key]) +
                       "); what can: " + joined(changeable));
    if (key == "threads")
      log.warn("--threads " + to_text(value) + " instead of " + to_text(before[key]) +
               ": the last bits of the result may differ");
    if (texts.count(key))
      log.warn("--" + key + " " + shown(value) + ": the text is read only where " +
               (key.starts_with("valid") ? "valid.ids" : "train.ids") +
               " is missing, and must be that of the run");
    if (key == "device")
      log.warn("--device " + shown(value) + " instead of " + shown(before[key]) +
               ": the last bits of the result may differ");
    if (key == "steps" && (now.at("schedule") == "linear" || now.at("schedule") == "cosine"))
      log.warn("--steps changes the schedule, which falls to 0 at its end");
  }
}

// --init: the options take the shape of that model; one given on the command line must agree.
void adopt_shape(TrainOptions& options, const Options& given) {
  const ModelConfig model = ModelReader(resolve_model(options.init)).config();
  Json theirs;
  const Json shape = model.to_json(), ours = given.to_json();
  for (const auto& [key, value] : shape.items()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    theirs[name] = value;
  }
  theirs = given.renamed(theirs);
  for (const auto& [name, value] : theirs.items()) {
    const bool by_layers = given.given("layers") && name.find("coder-layers") != std::string::npos;
    if (!ours.contains(name) || (!given.given(name) && !by_layers) || ours[name] == value) continue;
    throw UsageError("--" + (by_layers ? "layers" : name) + " " + shown(ours[name]) +
                     " contradicts --init " + options.init + ", whose model has " + shown(value) +
                     ": leave it out");
  }
  options.model.config = model;
}

// The newest checkpoint whose files are whole.
int64_t newest_whole(const RunDirectory& run, const Log& log) {
  const std::vector<int64_t> steps = run.complete_steps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      const ModelReader model(run.model(*step));
      check_state(run.state(*step), model.config(), model.checksum());
      return *step;
    } catch (const DataError& e) {
      if (step + 1 == steps.rend()) throw;
      log.warn(std::string(e.what()) + "; going back to the checkpoint of step " +
               std::to_string(*(step + 1)));
    }
  }
  throw DataError(run.path() + " holds no complete checkpoint");
}

// Another --save-every is that of the steps to come; which checkpoints were asked for before is
// noted.
void note_schedule(Json& config, const Json& options, int64_t step) {
  const Json& former = config.at("options").at("save-every");
  if (former != options.at("save-every"))
    config["saves_before"].push_back({{"until", step}, {"every", former}});
  config["options"] = options;
}

// A run from before there was --valid-metric compared its models by perplexity, and goes on doing
// so. Its states do not say what they were judged by: "judged_by" does.
void adopt_criterion(TrainOptions& options, const Options& given, Json& config) {
  const Json& former = config.at("options");
  if (former.contains("valid-metric")) return;
  config["judged_by"] =
      Validator::criterion("perplexity", former.value("valid-command", std::string()));
  if (!given.given("valid-metric")) options.valid_metric = {"perplexity"};
}

int resume(TrainOptions& options, const Options& given, const MakeTranslationScorer& scorer,
           const Log& log) {
  RunDirectory run = RunDirectory::open(options.resume);
  Json config = run.read_config();
  adopt_criterion(options, given, config);
  check_changes(given.renamed(config.at("options")), given.to_json(), log);
  const int64_t step = newest_whole(run, log);
  note_schedule(config, given.to_json(), step);
  TrainingData data = reopen_data(options, run, step, config, log);
  data.scorer = scorer;
  return Session(options, std::move(run), std::move(data), step, config, log).loop();
}

int start(TrainOptions& options, Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, const Log& log) {
  if (options.out.empty()) throw UsageError("no run directory: give -o DIR");
  if (options.out == "-")
    throw UsageError("--out -: a run is a directory, which standard output is not: give -o DIR");
  if (options.src.empty()) throw UsageError("no training text: give --src FILE and --tgt FILE");
  if (!options.init.empty()) adopt_shape(options, given);
  Json config{{"command", command}, {"options", given.to_json()}};
  RunDirectory run = RunDirectory::create(options.out);
  TrainingData data = open_data(options, run, config, log);
  tell_fit(options, data.vocabularies, data.corpora, log);
  data.scorer = scorer;
  if (preset_is_open(options, given)) {
    settle_preset(options, given, data.corpora, log);
    config["options"] = given.to_json();
  }
  return Session(options, std::move(run), std::move(data), Session::begin, config, log).loop();
}

// --describe of a run to resume, of a model to start from, or of the options alone.
ModelConfig described_model(TrainOptions& options, const Options& given, const Log& log) {
  if (!options.resume.empty()) return ModelReader(resolve_model(options.resume)).config();
  ModelConfig model = options.model.config;
  if (!options.init.empty()) {
    adopt_shape(options, given);
    model = options.model.config;
  } else if (options.vocab.empty() && options.vocab_src.empty()) {
    model.set_vocabularies(37000);
    log.info("no vocabulary is given: taking one of 37000 pieces, as the paper's base model has");
  } else {
    const Vocabularies v = load_vocabularies(options);
    model.sides.front().vocabulary = v.source->size();
    model.sides.back().vocabulary = v.target->size();
  }
  model.resolve();
  return model;
}

// --describe: by the text where it is given, else the paper's.
void settle_described(TrainOptions& options, Options& given, const Log& log) {
  if (options.src.empty()) {
    options.preset = "base";
    return log.info("no text is given: taking preset base; --preset takes another");
  }
  const TemporaryFolder folder("tx-describe");
  Json config;
  const RunDirectory run = RunDirectory::create(folder.path());
  settle_preset(options, given, open_data(options, run, config, log).corpora, log);
}

size_t translating_bytes(const TrainOptions& options, const MakeTranslationScorer& scorer,
                         Parameters& parameters) {
  Json unused;
  TranslationTask task = read_translation_task(options, unused);
  if (task.metrics.empty()) return 0;
  const Vocabularies v = options.resume.empty() ? load_vocabularies(options)
                                                : model_vocabularies(resolve_model(options.resume));
  task.source = v.source;
  task.target = v.target;
  return scorer(parameters, std::move(task))->bytes();
}

int describe_only(TrainOptions& options, Options& given, const MakeTranslationScorer& scorer,
                  const Log& log) {
  if (preset_is_open(options, given)) settle_described(options, given, log);
  const ModelConfig model = described_model(options, given, log);
  Backend backend = make_backend(options.device, options.threads);
  const size_t program = anonymous_bytes();
  const DType dtype = precision_dtype(options.precision);
  Parameters parameters(backend, model, dtype, true);
  Transformer transformer(backend, parameters, options.max_length + 1);
  const BatchShape shape{options.max_length, [](int n) { return std::vector<int>{n, n}; }};
  const MemoryBeside beside{program, translating_bytes(options, scorer, parameters)};
  const int tokens =
      options.batch_tokens == "auto"
          ? resolve_batch_tokens(backend, parameters, transformer, options, shape, beside)
          : parse_batch_tokens(options.batch_tokens);
  const std::vector<int> capacities = shape.capacities(tokens);
  MemoryPlan memory = plan_memory(backend, parameters, transformer, options, capacities, beside);
  TrainOptions other = options;
  other.recompute = !options.recompute;
  memory.other = plan_activations(backend, parameters, transformer, other, capacities);
  Writer out("-");
  out.write(describe_run(model, memory, capacities, options));
  out.close();
  log.info("source and target are taken to be equally long; a run uses the corpus's ratio");
  return 0;
}

}  // namespace

int train(TrainOptions& options, Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, const Log& log) {
  if (!options.replay.empty()) return replay(options, log);  // its options were resolved
  if (options.preset == "auto" && !preset_is_open(options, given)) options.preset = "base";
  options.resolve(given);
  limit_threads(options.threads, log);
  if (given.given("tune") && options.tune && options.device == "cpu")
    log.warn("--tune has no effect on a CPU");
  if (options.describe_only) return describe_only(options, given, scorer, log);
  if (options.parity) {
    if (!options.init.empty()) adopt_shape(options, given);
    return parity(options, given, log);
  }
  ignore_sigpipe();
  return options.resume.empty() ? start(options, given, command, scorer, log)
                                : resume(options, given, scorer, log);
}

}  // namespace tx
