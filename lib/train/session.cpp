#include "lib/train/session.h"

#include <algorithm>

#include "lib/base/error.h"

namespace tx {

namespace {

DType activation_dtype(const TrainOptions& options) {
  return options.precision == "bf16" ? DType::bf16 : DType::f32;
}

}  // namespace

Session::Session(const TrainOptions& options, RunDirectory run, bool resumed, const Json& config,
                 const Log& log)
    : options_(options),
      log_(log),
      run_(std::move(run)),
      config_(config),
      backend_(make_backend(options.device, options.threads)),
      start_(std::chrono::steady_clock::now()),
      last_save_(start_) {
  const int64_t at = resumed ? run_.complete_steps().back() : 0;
  build_data(resumed, at);
  build_model();
  if (resumed) load(at);
  const size_t arena = Stepper::plan(backend_, *parameters_, *transformer_, options_, capacities_);
  stepper_ = std::make_unique<Stepper>(backend_, *parameters_, *transformer_, options_);
  stepper_->reserve(arena);
  const MemoryPlan memory =
      plan_memory(backend_, *parameters_, *transformer_, options_, capacities_);
  log_.info("memory plan: " + std::to_string(memory.total() >> 20) + " MiB; " +
            std::to_string(parameter_count(parameters_->config())) + " parameters, batches of " +
            std::to_string(capacities_.front()) + " source and " +
            std::to_string(capacities_.back()) + " target pieces, " + options_.precision + ", " +
            std::to_string(options_.threads) + " threads");
}

void Session::build_data(bool resumed, int64_t at) {
  if (resumed) {
    const ModelReader reader(run_.model(at));
    vocabularies_ = {reader.source(), reader.target()};
  } else if (!options_.init.empty()) {
    const ModelReader reader(resolve_model(options_.init));
    vocabularies_ = {reader.source(), reader.target()};
  } else {
    vocabularies_ = load_vocabularies(options_);
  }
  corpora_ = open_corpora(options_, vocabularies_, run_.path(), resumed, log_);
  if (resumed && config_.at("data").get<std::string>() != corpora_.train->checksum())
    throw DataError(corpora_.train->path() + " is not the text this run was started with");
  config_["data"] = corpora_.train->checksum();
}

void Session::build_model() {
  ModelConfig model = options_.model.config;
  model.source_vocabulary = vocabularies_.source->size();
  model.target_vocabulary = vocabularies_.target->size();
  if (!options_.init.empty()) model = ModelReader(resolve_model(options_.init)).config();
  model.resolve();
  if (model.learned_positions()) check_positions(model);
  parameters_ =
      std::make_unique<Parameters>(backend_, model, activation_dtype(options_), true);
  if (options_.init.empty())
    parameters_->initialise(uint32_t(options_.seed));
  else
    ModelReader(resolve_model(options_.init)).load(*parameters_);
  int longest = longest_dummy;
  for (const IdCache* cache : {corpora_.train.get(), corpora_.valid.get()})
    for (int side = 0; cache && side < cache->sides(); ++side)
      longest = std::max(longest, cache->longest(side) + 1);
  transformer_ = std::make_unique<Transformer>(backend_, *parameters_, longest);
  const int batch = config_.contains("batch_tokens_resolved")
                        ? config_["batch_tokens_resolved"].get<int>()
                        : resolve_batch_tokens(backend_, *parameters_, *transformer_, options_,
                                               *corpora_.train);
  config_["batch_tokens_resolved"] = batch;  // what a free-memory reading chose stays chosen
  PackerOptions packing;
  packing.batch_tokens = batch;
  packing.seed = options_.seed;
  packer_ = std::make_unique<Packer>(*corpora_.train, packing);
  capacities_ = packer_->capacities();
  schedule_ = {options_.schedule, model.d_model, options_.warmup, options_.steps, options_.lr,
               options_.lr_factor};
}

void Session::check_positions(const ModelConfig& model) const {
  for (int side = 0; side < corpora_.train->sides(); ++side)
    if (corpora_.train->longest(side) + 1 > model.max_positions)
      throw UsageError("--max-positions " + std::to_string(model.max_positions) +
                       " is less than the longest sentence, " +
                       std::to_string(corpora_.train->longest(side) + 1) +
                       " with its end: raise it, or lower --max-length");
}

void Session::load(int64_t step) {
  const ModelReader reader(run_.model(step));
  reader.load(*parameters_);
  restore(load_state(run_.state(step), *parameters_, reader.checksum()));
  seconds_before_ = run_.cut_log(step);
  log_.info("resuming " + run_.path() + " after step " + std::to_string(step));
}

bool Session::finished() const {
  return (options_.steps > 0 && step_ >= options_.steps) ||
         (options_.epochs > 0 && packer_->epoch() >= options_.epochs) ||
         (options_.minutes > 0 && seconds() >= 60 * options_.minutes) ||
         (options_.patience > 0 && bad_validations_ >= options_.patience);
}

int Session::loop() {
  if (finished()) {
    log_.info("nothing to do: the run is already at step " + std::to_string(step_) +
              ", where its limits end it; raise --steps, --epochs, --minutes or --patience");
    return 0;
  }
  run_.write_config(config_);
  if (saved_step_ < 0) save();  // from here on a killed run can be resumed
  batches_.resize(size_t(options_.accumulate));
  while (!finished() && signals_.stop() == 0) {
    one_step();
    const double minutes =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - last_save_).count() / 60;
    const bool by_time = options_.save_minutes > 0 && minutes >= options_.save_minutes;
    if (due(options_.save_every) || by_time || signals_.take_save())
      checkpoint();
    else if (due(options_.valid_every) && corpora_.valid)
      judge(validate());
  }
  if (saved_step_ != step_) checkpoint();
  report_end();
  return signals_.stop() ? 128 + signals_.stop() : 0;
}

void Session::one_step() {
  const auto begin = std::chrono::steady_clock::now();
  for (Batch& batch : batches_) packer_->next(batch);
  const StepRecord record = stepper_->step(batches_, step_ + 1, schedule_.rate(step_ + 1));
  ++step_;
  skipped_ += record.skip;
  if (record.skip)
    log_.warn("step " + std::to_string(step_) +
              ": loss or gradients are not finite; the update was skipped");
  for (const Batch& batch : batches_)
    for (int64_t rows : batch.tokens) {
      tokens_ += rows;
      window_.tokens += rows;
    }
  window_.loss += record.loss;
  window_.nll += record.nll;
  window_.labels += record.labels;
  window_.steps += 1;
  window_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (due(options_.log_every) || (options_.steps > 0 && step_ == options_.steps)) log_line(record);
  show_live(record);
}

double Session::seconds() const {
  return seconds_before_ +
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Json Session::state() const {
  return Json{{"step", step_},
              {"skipped", skipped_},
              {"tokens", tokens_},
              {"best_step", best_step_},
              {"best_score", has_best_ ? Json(best_score_) : Json(nullptr)},
              {"bad_validations", bad_validations_},
              {"packer", packer_->state()}};
}

void Session::restore(const Json& state) {
  step_ = saved_step_ = state.at("step").get<int64_t>();
  skipped_ = state.at("skipped").get<int64_t>();
  tokens_ = state.at("tokens").get<int64_t>();
  best_step_ = state.at("best_step").get<int64_t>();
  has_best_ = !state.at("best_score").is_null();
  if (has_best_) best_score_ = state.at("best_score").get<double>();
  bad_validations_ = state.at("bad_validations").get<int64_t>();
  packer_->restore(state.at("packer"));
}

}  // namespace tx
