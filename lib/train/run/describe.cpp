#include "lib/train/run/describe.h"

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/checkpoint/model_file.h"
#include "lib/subword/sentinels.h"
#include "lib/tensor/precision.h"
#include "lib/train/options/preset.h"
#include "lib/train/options/run_options.h"
#include "lib/train/run/data.h"
#include "lib/train/run/temporary_folder.h"
#include "lib/train/step/plan.h"

namespace tx {

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
    log.info("no vocabulary is given: taking one of 37000 tokens, as the paper's base model has");
  } else {
    model.set_vocabularies(load_vocabularies(options).sizes());
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

// Of sides equally long, or of what is left and taken of the longest texts.
std::vector<int> described_capacities(const TrainOptions& options, size_t sides, int tokens) {
  if (!options.denoise) return std::vector<int>(sides, tokens);
  const auto rows = [&](int side) {
    return denoised_length(options.longest_text(), side, added_sentinels) + 1;
  };
  return {int((int64_t(tokens) * rows(0) / rows(1) + 63) / 64 * 64), tokens};
}

size_t translating_bytes(const TrainOptions& options, const MakeTranslationScorer& scorer,
                         Parameters& parameters) {
  Json unused;
  TranslationTask task = read_translation_task(options, unused);
  if (task.metrics.empty()) return 0;
  task.vocabularies = options.resume.empty() ? load_vocabularies(options)
                                             : model_vocabularies(resolve_model(options.resume));
  return scorer(parameters, std::move(task))->bytes();
}

}  // namespace

ModelConfig describe_model(TrainOptions& options, Options& given, const Log& log) {
  if (preset_is_open(options, given)) settle_described(options, given, log);
  return described_model(options, given, log);
}

int describe_training(TrainOptions& options, Options& given, const MakeTranslationScorer& scorer,
                      int ranks, const Log& log) {
  const ModelConfig model = describe_model(options, given, log);
  Backend backend = make_backend(options.device, options.threads);
  const size_t program = anonymous_bytes();
  const DType dtype = precision_dtype(options.precision);
  Parameters parameters(backend, model, dtype, {0, ranks}, Parameters::Planned());
  const size_t sides = model.sides.size();
  const int longest = options.longest_text();
  Transformer transformer(backend, parameters, longest + 1);
  const BatchShape shape{longest, [&](int n) { return described_capacities(options, sides, n); }};
  const MemoryBeside beside{program, translating_bytes(options, scorer, parameters)};
  const PlannedRun run{backend, parameters, transformer, options, beside, ranks};
  const int tokens = options.batch_tokens == "auto" ? resolve_batch_tokens(run, shape)
                                                    : parse_batch_tokens(options.batch_tokens);
  const std::vector<int> capacities = shape.capacities(tokens);
  MemoryPlan memory = plan_memory(run, capacities);
  TrainOptions other = options;
  other.recompute = !options.recompute;
  memory.other = plan_activations({backend, parameters, transformer, other, beside}, capacities);
  Writer out("-");
  out.write(describe_run(model, memory, capacities, options));
  out.close();
  if (sides > 1 && !options.denoise)
    log.info("source and target are taken to be equally long; a run uses the corpus's ratio");
  return 0;
}

}  // namespace tx
