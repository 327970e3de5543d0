// How a session is put together: data, model, batches, and the memory they take.
#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/tensor/precision.h"
#include "lib/train/session.h"

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
  model.set_vocabularies(vocabularies_.sizes());
  if (resume_at != begin) model = ModelReader(run_.model(resume_at)).config();
  model.resolve();
  if (model.tie == Tie::all && !vocabularies_.shared())
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
  task.vocabularies = vocabularies_;
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
    bpe_dropout_ =
        std::make_unique<PairDropout>(*corpora_.train, vocabularies_, options_.bpe_dropout,
                                      options_.seed, options_.bpe_dropout_epochs);
  packing.dropout = bpe_dropout_.get();
  packer_ = std::make_unique<Packer>(*corpora_.train, packing);
  capacities_ = packer_->capacities();
  progress_.expect_tokens(options_.epochs * epoch_tokens());
  // A pair that is too long is told now, not at the first save.
  if (corpora_.valid) Validator::packer(*corpora_.valid, capacities_);
}

}  // namespace tx
