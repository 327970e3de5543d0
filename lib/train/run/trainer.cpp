#include "lib/train/run/trainer.h"

#include <signal.h>

#include <filesystem>
#include <optional>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/state_file.h"
#include "lib/data/masking.h"
#include "lib/model/config.h"
#include "lib/subword/vocabulary.h"
#include "lib/train/options/schedule.h"
#include "lib/train/options/settle.h"
#include "lib/train/run/data.h"
#include "lib/train/run/session.h"
#include "lib/train/run/temporary_directory.h"
#include "lib/train/step/plan.h"

namespace tx {

namespace {

// A member of config.json: --steps is the number of steps of --epochs.
constexpr char steps_of_epochs[] = "steps_of_epochs";

// The newest checkpoint whose files are intact.
int64_t newest_intact(const RunDirectory& run, const Log& log) {
  const std::vector<int64_t> steps = run.complete_steps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      const ModelReader model(run.model(*step));
      check_state(run.state(*step), model.config(), model.checksum());
      return *step;
    } catch (const DataError& e) {
      if (step + 1 == steps.rend()) throw;
      log.warn(std::string(e.what()) + "; resuming from the checkpoint of step " +
               std::to_string(*(step + 1)));
    }
  }
  throw DataError(run.path() + " has no complete checkpoint");
}

int resume(TrainOptions& options, const Options& given, const MakeTranslationScorer& scorer,
           const Replicas& replicas, const Log& log) {
  RunDirectory run = RunDirectory::open(options.resume);
  Json config = run.read_config();
  check_changes(config.at("options"), given, log);
  const int64_t step = newest_intact(run, log);
  note_options(config, given.to_json(), step);
  if (given.given("valid-src") && config.contains("valid_text"))
    config["valid_text"]["directory"] = std::filesystem::current_path().string();
  TrainingData data = reopen_data(options, run, step, config, log);
  RunSpec spec = make_run_spec(options, std::move(data), run, run.model(step), config);
  send_run_spec(spec, options, given, replicas);
  if (given.given("steps")) config.erase(steps_of_epochs);
  Session session(options, std::move(run), config, std::move(spec), replicas, scorer, step, log);
  if (config.contains(steps_of_epochs) && given.given("epochs") && options.epochs > 0) {
    options.steps = session.counter()(options.epochs, 0);
    session.note(given);
    log.info("--epochs " + std::to_string(options.epochs) + ": " + counted(options.steps, "step"));
  }
  return session.run();
}

int start(TrainOptions& options, Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, const Replicas& replicas, const Log& log) {
  if (options.out.empty()) throw UsageError("no run directory: give -o DIR");
  if (options.out == "-")
    throw UsageError(
        "--out -: a run is a directory and cannot be written to standard output: give -o DIR");
  if (options.src.empty())
    throw UsageError(std::string("no training text: give --src FILE") +
                     (options.one_text() ? "" : " and --tgt FILE"));
  if (!options.init.empty()) adopt_shape(options, given);
  Json config{{"command", command}, {"options", given.to_json()}};
  RunDirectory run = RunDirectory::create(options.out);
  TrainingData data = open_data(options, run, config, log);
  check_vocabulary_fit(options, data.vocabularies, data.corpora, log);
  std::optional<PresetChoice> choice;
  if (preset_is_open(options, given)) {
    choice = settle_preset(options, given, data.corpora);
    config["options"] = given.to_json();
    if (options.epochs > 0 && !given.chosen("steps")) config[steps_of_epochs] = true;
  }
  RunSpec spec = make_run_spec(options, std::move(data), run, "", config);
  send_run_spec(spec, options, given, replicas);
  Session session(options, std::move(run), config, std::move(spec), replicas, scorer,
                  Session::beginning, log);
  if (choice) {
    settle_length(options, given, *choice, session.counter(), log);
    session.note(given);
  }
  if (steps_by_minutes(options, given)) session.fit_to_minutes(options, given);
  check_course(options, session.counter(), log);
  return session.run();
}

// Every rank but rank 0.
int follow(TrainOptions& options, Options& given, const MakeTranslationScorer& scorer,
           const Replicas& replicas, const Log& log) {
  RunSpec spec = receive_run_spec(options, given, replicas);
  // From here on rank 0 handles signals and ends the others.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) ::signal(signal, SIG_IGN);
  Run(options, std::move(spec), replicas, scorer, log).obey();
  return 0;
}

}  // namespace

int train(TrainOptions& options, Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, Job& job, const Log& log) {
  ignore_sigpipe();
  const Replicas replicas(job.join(), options);
  if (!replicas.leads()) return follow(options, given, scorer, replicas, log);
  return options.resume.empty() ? start(options, given, command, scorer, replicas, log)
                                : resume(options, given, scorer, replicas, log);
}

namespace {

// --describe of a run to resume, of a model to start from, or of the options alone.
ModelConfig described_model(TrainOptions& options, const Options& given, const Log& log) {
  if (!options.resume.empty()) return ModelReader(resolve_model(options.resume)).config();
  ModelConfig model = options.model_config();
  if (!options.init.empty()) {
    adopt_shape(options, given);
    model = options.model_config();
  } else if (options.vocab.empty() && options.vocab_src.empty()) {
    model.set_vocabularies(37000);
    log.info("no vocabulary given: assuming the 37,000 tokens of the paper's base model");
  } else {
    model.set_vocabularies(load_vocabularies(options).sizes());
  }
  model.resolve();
  return model;
}

// Chooses the preset for --describe: by the text if there is one, otherwise base.
void settle_described(TrainOptions& options, Options& given, const Log& log) {
  if (options.src.empty()) {
    options.preset = "base";
    return log.info("no text given: describing preset base; override with --preset");
  }
  const TemporaryDirectory directory("tx-describe");
  Json config = Json::object();
  const RunDirectory run = RunDirectory::create(directory.path());
  const TrainingData data = open_data(options, run, config, log);
  const PresetChoice choice = settle_preset(options, given, data.corpora);
  const bool open = options.batch_tokens == "auto";
  const Feed feed(*data.corpora.train, data.vocabularies, options,
                  open ? max_auto_tokens : parse_batch_tokens(options.batch_tokens),
                  data.corpora.sentinels);
  const auto count = [&](int64_t epochs, int64_t max) { return feed.steps(epochs, max); };
  settle_length(options, given, choice, count, log);
  if (open && !given.chosen("steps"))
    log.info("the number of steps assumes batches of " + grouped(max_auto_tokens) +
             " target tokens; a run counts its own");
}

// Assumes sides of equal length; with --denoise, the ratio for the longest text.
std::vector<int> described_capacities(const TrainOptions& options, size_t sides, int tokens) {
  if (!options.denoise) return std::vector<int>(sides, tokens);
  const auto rows = [&](int side) {
    return denoised_length(options.longest_text(), side, added_sentinels) + 1;
  };
  return {int((int64_t(tokens) * rows(0) / rows(1) + 63) / 64 * 64), tokens};
}

size_t translating_bytes(const TrainOptions& options, const MakeTranslationScorer& scorer,
                         Parameters& parameters, const Log& log) {
  const std::string& run = options.resume;
  Json config =
      run.empty() ? Json::object() : parse_json(read_file(run + "/config.json", 1 << 24), run);
  TranslationTask task = read_translation_task(options, run, config);
  if (task.metrics.empty()) return 0;
  if (options.vocab.empty() && options.vocab_src.empty() && options.init.empty() &&
      options.resume.empty()) {
    log.info("without a vocabulary the memory for --valid-metric " + task.metrics.front() +
             " is not known");
    return 0;
  }
  task.vocabularies = options.resume.empty() ? load_vocabularies(options)
                                             : model_vocabularies(resolve_model(options.resume));
  return scorer(parameters, std::move(task))->bytes();
}

}  // namespace

ModelConfig describe_model(TrainOptions& options, Options& given, const Log& log) {
  if (preset_is_open(options, given)) settle_described(options, given, log);
  return described_model(options, given, log);
}

DescribedRun plan_described(TrainOptions& options, Options& given,
                            const MakeTranslationScorer& scorer, int ranks, const Log& log) {
  const ModelConfig model = describe_model(options, given, log);
  Backend backend = make_backend(options.device, options.threads);
  const size_t program = anonymous_bytes();
  const DType dtype = precision_dtype(options.precision);
  Parameters parameters(backend, model, dtype, {0, ranks}, Parameters::Planned());
  const size_t sides = model.sides.size();
  const int longest = options.longest_text();
  Transformer transformer(backend, parameters, longest + 1);
  const BatchShape shape{longest + 2,
                         [&](int n) { return described_capacities(options, sides, n); }};
  const OtherMemory rest{program, translating_bytes(options, scorer, parameters, log)};
  const PlannedRun run{backend, parameters, transformer, options, rest, ranks};
  const int tokens = options.batch_tokens == "auto" ? resolve_batch_tokens(run, shape)
                                                    : parse_batch_tokens(options.batch_tokens);
  const std::vector<int> capacities = shape.capacities(tokens);
  MemoryPlan memory = plan_memory(run, capacities);
  TrainOptions other = options;
  other.recompute = !options.recompute;
  memory.other = plan_activations({backend, parameters, transformer, other, rest}, capacities);
  if (sides > 1 && !options.denoise)
    log.info("assuming source and target of equal length; a run uses the ratio of its text");
  return {model, memory, capacities};
}

int describe_training(TrainOptions& options, Options& given, const MakeTranslationScorer& scorer,
                      int ranks, const Log& log) {
  const DescribedRun run = plan_described(options, given, scorer, ranks, log);
  Writer out("-");
  out.write(describe_run(run, options));
  out.close();
  return 0;
}

}  // namespace tx
