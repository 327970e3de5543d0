#include "lib/train/plan/described.h"

#include <optional>

#include "lib/base/figure.h"
#include "lib/base/io.h"
#include "lib/base/temporary_directory.h"
#include "lib/checkpoint/model_file.h"
#include "lib/data/masking.h"
#include "lib/model/parameters.h"
#include "lib/train/input/data.h"
#include "lib/train/plan/resolve.h"
#include "lib/train/plan/settle.h"
#include "lib/train/step/feed.h"

namespace tx {
namespace {

// By the text if there is one; an open preset is otherwise base.
TrainOptions settle_described(const TrainOptions& options, const Options& given, const Log& log) {
  if (!preset_is_open(options, given)) return options;
  if (options.src.empty()) {
    TrainOptions base = options;
    base.preset = Preset::base;
    log.info("no text given: describing preset base; override with --preset");
    return base;
  }
  const TemporaryDirectory directory("tx-describe");
  Json config = Json::object();
  const RunDirectory run = RunDirectory::create(directory.path());
  const TrainingData data = open_data(options, run, config, log);
  std::optional<Feed> feed;
  bool assumed = false;
  const auto assume_batch = [&](const TrainOptions& chosen) -> CountSteps {
    assumed = chosen.batch_tokens.number() == 0;
    feed.emplace(*data.corpora.train, data.vocabularies, chosen,
                 chosen.batch_tokens.number(max_auto_tokens), data.corpora.sentinels);
    return [&feed](int64_t epochs, int64_t max) { return feed->steps(epochs, max); };
  };
  const TrainOptions settled = settle(options, given, data.corpora, assume_batch, log);
  if (assumed && !given.chosen("steps"))
    log.info("the number of steps assumes batches of " + grouped(max_auto_tokens) +
             " target tokens; a run counts its own");
  return settled;
}

// Of a run to resume, of a model to start from, or of the options alone.
ModelConfig config_of(const TrainOptions& options, const Log& log) {
  if (!options.resume.empty()) return ModelReader(resolve_model(options.resume)).config();
  ModelConfig model = options.model_config();
  if (options.init.empty() && options.vocab.empty() && options.vocab_src.empty()) {
    model.set_vocabularies(37000);
    log.info("no vocabulary given: assuming the 37,000 tokens of the paper's base model");
  } else if (options.init.empty() || options.adds_tokens()) {
    model.set_vocabularies(load_vocabularies(options).sizes());
  }
  model.resolve();
  return model;
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

std::string mebibytes(size_t bytes) { return formatted("%10.1f MiB", double(bytes) / 1048576); }

std::string entry_line(const ParameterEntry& e) {
  const std::string shape =
      e.vector ? "(" + std::to_string(e.cols) + ")"
               : "(" + std::to_string(e.rows) + ", " + std::to_string(e.cols) + ")";
  return formatted("  %-52s %-16s %12lld\n", e.name.c_str(), shape.c_str(),
                   static_cast<long long>(e.rows * e.cols));
}

std::string memory_text(const MemoryPlan& m, bool recompute) {
  const auto line = [](std::string name, size_t bytes) {
    name.resize(15, ' ');
    return "  " + name + mebibytes(bytes) + "\n";
  };
  std::string out;
  for (const auto& [name, bytes] : memory_parts(m)) {
    out += line(name, bytes);
    if (name == std::string_view("activations") && m.other)
      out += (recompute ? "    without --recompute " : "    with --recompute    ") +
             mebibytes(m.other) + "\n";
  }
  return out + line("total", m.total());
}

}  // namespace

DescribedModel describe_model(const TrainOptions& options, const Options& given, const Log& log) {
  const TrainOptions settled = settle_described(options, given, log);
  return {settled, config_of(settled, log)};
}

DescribedRun describe_run(const TrainOptions& asked, const Options& given,
                          const MakeTranslationScorer& scorer, int ranks, const Log& log) {
  const DescribedModel described = describe_model(asked, given, log);
  const TrainOptions& options = described.options;
  const ModelConfig& model = described.model;
  Backend backend = make_backend(options.device, options.threads);
  const size_t program = anonymous_bytes();
  const DType dtype = precision_dtype(options.precision);
  Parameters parameters = Parameters::for_planning(backend, model, dtype, {0, ranks});
  const size_t sides = model.sides.size();
  const int longest = options.longest_text();
  Transformer transformer(backend, parameters, longest + 1);
  const BatchShape shape{longest + 2,
                         [&](int n) { return described_capacities(options, sides, n); }};
  const OtherMemory rest{program, translating_bytes(options, scorer, parameters, log)};
  const PlannedRun run{backend, parameters, transformer, options, rest, ranks};
  const int fixed = options.batch_tokens.number();
  const int tokens = fixed ? fixed : resolve_batch_tokens(run, shape);
  const std::vector<int> capacities = shape.capacities(tokens);
  MemoryPlan memory = plan_memory(run, capacities);
  TrainOptions other = options;
  other.recompute = !options.recompute;
  memory.other = plan_activations({backend, parameters, transformer, other, rest}, capacities);
  if (sides > 1 && !options.denoise)
    log.info("assuming source and target of equal length; a run uses the ratio of its text");
  return {described, memory, capacities};
}

std::string description(const DescribedRun& run) {
  const TrainOptions& options = run.options;
  const ModelConfig& config = run.model;
  std::string text = data_flow(config) + "parameters\n";
  for (const ParameterEntry& e : parameter_table(config)) text += entry_line(e);
  text += formatted("  %-69s %12lld\n", "total", static_cast<long long>(parameter_count(config)));
  text += "memory\n" + memory_text(run.memory, options.recompute);
  const std::string sides = by_side(config, run.capacities, " + ");
  const double flops = step_flops(config, {run.capacities.begin(), run.capacities.end()}) *
                       options.accumulate * options.passes();
  return text + "step\n  " + std::to_string(options.accumulate) + " x (" + sides + ")" +
         formatted(" tokens, %.5g product FLOPs\n", flops);
}

}  // namespace tx
