#include "lib/train/run/run.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/run_checkpoints.h"
#include "lib/model/config.h"
#include "lib/model/tensor_parallel.h"
#include "lib/train/input/growth.h"

namespace tx {

Run::Run(const TrainOptions& options, RunSpec spec, const Replicas& replicas,
         const MakeTranslationScorer& scorer, const Log& log)
    : options_(options),
      replicas_(replicas),
      spec_(std::move(spec)),
      backend_(make_backend(options.device, options.threads)) {
  if (replicas_.all() && options.device != Device::cuda) compare_processors(log);
  if (replicas_.leads()) set_products(log);
  const size_t program = anonymous_bytes();
  build_model();
  build_scorer(scorer);
  build_step(program, log);
  if (scorer_) scorer_->reserve();
}

// Ranks of other processors, or with another TX_MAX_ISA, compute other last bits.
void Run::compare_processors(const Log& log) const {
  const char* limit = std::getenv("TX_MAX_ISA");
  const std::string own = describe_cpu() + (limit ? limit : "");
  const std::string mine = xxh3_hex(own.data(), own.size());
  const World& ranks = *replicas_.all();
  std::string all(size_t(ranks.size()) * mine.size(), ' ');
  replicas_.all()->gather_all(mine.data(), mine.size(), all.data());
  for (int r = 1; r < ranks.size() && replicas_.leads(); ++r)
    if (all.compare(size_t(r) * mine.size(), mine.size(), mine) != 0)
      return log.warn(
          name_of_rank(r, ranks.cards()[size_t(r)].host) +
          " has other CPU instructions or libraries than rank 0, so results depend on " +
          "the number of ranks; compare tx-train --version and TX_MAX_ISA");
}

// --tune: a resumed run keeps the algorithms found first: others would change the last bits.
void Run::set_products(const Log& log) {
  if (!spec_.products.empty()) {
    try {
      return backend_->set_tuning(spec_.products);
    } catch (const Error& e) {
      log.warn(std::string(e.what()) + "; choosing again: the last bits may differ");
    }
  }
  if (options_.tune) backend_->set_tuning("measure");
}

void Run::build_model() {
  const DType dtype = precision_dtype(options_.precision);
  const ModelShard part = replicas_.part();
  if (!part.whole()) check_shards(spec_.model, part.count);
  if (!part.whole() && replicas_.leads())
    whole_.reset(new Parameters(Parameters::for_saving(backend_, spec_.model, dtype)));
  trained_.reset(new Parameters(
      Parameters::for_training(backend_, spec_.model, dtype, replicas_.share(), part)));
  if (!spec_.frozen_tokens.empty()) trained_->freeze(spec_.frozen_tokens);
  transformer_ = std::make_unique<Transformer>(
      backend_, *trained_, std::max(longest_dummy, spec_.longest_sentence(options_)));
}

void Run::build_scorer(const MakeTranslationScorer& make) {
  if (spec_.translations.metrics.empty()) return;
  TranslationTask task = spec_.translations;
  task.vocabularies = spec_.vocabularies;
  task.rank = replicas_.all() ? replicas_.all()->rank() : 0;
  task.ranks = replicas_.count();
  scorer_ = make(whole(), std::move(task));
}

// Rank 0 determines which batches fit and which algorithms are fastest.
void Run::build_step(size_t program, const Log& log) {
  const Matrix weights = whole_ ? whole_->fp32_weights() : Matrix{};
  const size_t kept = 3 * size_t(weights.cols) * size_of(weights.dtype);  // with optimizer state
  const PlannedRun planned{backend_,
                           *trained_,
                           *transformer_,
                           options_,
                           {program + kept, scorer_ ? scorer_->bytes() : 0},
                           replicas_.share().ranks};
  const std::vector<PairLengths> texts = spec_.corpora.lengths();
  if (replicas_.leads() && spec_.batch_tokens == 0)
    spec_.batch_tokens = resolve_batch_tokens(planned, shape_of(texts));
  spec_.batch_tokens = std::stoi(replicas_.agree(std::to_string(spec_.batch_tokens)));
  check_capacities(texts, batch_capacities(texts.front(), spec_.batch_tokens),
                   !options_.resume.empty());
  feed_ = std::make_unique<Feed>(*spec_.corpora.train, spec_.vocabularies, options_,
                                 spec_.batch_tokens, spec_.corpora.sentinels);
  begin_ = feed_->state();
  const std::vector<int>& capacities = feed_->capacities();
  if (spec_.corpora.valid)
    valid_pass_ =
        std::make_unique<ValidPass>(*spec_.corpora.valid, capacities,
                                    options_.kind == ModelKind::encoder, spec_.corpora.sentinels);
  if (replicas_.leads()) {
    memory_ = plan_memory(planned, capacities);
    spec_.products = backend_->tuning();
  }
  spec_.products = replicas_.agree(spec_.products);
  if (!replicas_.leads() && !spec_.products.empty()) backend_->set_tuning(spec_.products);
  if (replicas_.leads()) report_memory(log);
  const size_t arena = Stepper::plan(backend_, *trained_, *transformer_, options_, capacities);
  stepper_ = std::make_unique<Stepper>(backend_, *trained_, *transformer_, options_);
  if (Communicator* sharers = replicas_.sharers()) stepper_->share(*sharers);
  stepper_->reserve(arena, options_.accumulate);
}

void Run::report_memory(const Log& log) {
  const ModelShard& part = trained_->shard();
  const AutoPrecision best = auto_precision(options_.device);
  const bool is_best = precision_dtype(options_.precision) == best.dtype;
  log.info(
      "memory plan: " + binary_size(memory_.total()) + "; " +
      grouped(double(parameter_count(spec_.model))) + " parameters, batches of " +
      by_side(spec_.model, feed_->capacities(), " and ") + " tokens, " + options_.precision.name +
      (is_best ? std::string(" (") + best.reason + "), " : ", ") +
      (options_.device == Device::cuda ? "on the GPU" : counted(options_.threads, "thread")) +
      (replicas_.count() > 1 ? " on each of " + std::to_string(replicas_.count()) + " ranks" : "") +
      (part.whole() ? "" : ", tensor parallelism over " + std::to_string(part.count) + " ranks"));
  check_device_memory(backend_, memory_);
  const size_t available = size_t(available_memory()) + anonymous_bytes();
  if (!backend_->has_own_memory() && memory_.total() > available)
    log.warn("the plan of " + binary_size(memory_.total()) + " exceeds the available memory, " +
             binary_size(available) + ": lower --batch-tokens, or give --recompute");
}

namespace {

using Method = void (*)(Run& run, const RankCall& call);

template <auto method>
void make(Run& run, const RankCall& call) {
  (run.*method)(call);
}

template <auto... method>
constexpr Method table[] = {make<method>...};

// What rank 0 can call on all ranks. It broadcasts a method's place here.
constexpr auto& methods =
    table<&Run::rehearse, &Run::step, &Run::release, &Run::validate, &Run::translate,
          &Run::weights_finite, &Run::agree_on_feed, &Run::spread, &Run::collect,
          &Run::gather_gradients, &Run::gradient_norms, &Run::forget_steps, &Run::end>;

}  // namespace

template <auto method>
void Run::announce(RankCall call) const {
  constexpr const Method* found = std::ranges::find(methods, Method(make<method>));
  static_assert(found != std::end(methods));
  call.method = int32_t(found - methods);
  replicas_.broadcast(call);
}

// Waits for each call to end, so that its errors are known before the next.
void Run::obey() {
  while (!ended_) {
    backend_->wait();
    const RankCall call = replicas_.receive();
    methods[call.method](*this, call);
  }
}

void Run::rehearse(const RankCall& call) {
  if (std::exchange(rehearsed_, true)) return;
  announce<&Run::rehearse>(call);
  stepper_->rehearse(worst_batch(feed_->lengths(), feed_->capacities(), feed_->growth()));
}

StepRecord Run::step(const RankCall& call) {
  announce<&Run::step>(call);
  stepper_->launch(feed_->next(), call.number, call.rate, call.loss_limit);
  stepper_->prepare(feed_->read_ahead());  // while a GPU computes
  return record_ = stepper_->finish();
}

StepRecord Run::release(const RankCall& call) {
  announce<&Run::release>(call);
  return record_ = stepper_->release(record_);
}

StepRecord Run::validate(const RankCall& call) {
  announce<&Run::validate>(call);
  return valid_pass_->run(replicas_.sharers(), [this](const Batch& batch, StepRecord& sums) {
    stepper_->evaluate(batch, sums);
  });
}

std::optional<std::vector<double>> Run::translate(const RankCall& call) {
  announce<&Run::translate>(call);
  return scorer_->score(
      [&] {
        if (!replicas_.leads()) return replicas_.stop_received();
        if (!stop_()) return false;
        replicas_.stop_translating();
        return true;
      },
      replicas_.all());
}

bool Run::weights_finite(const RankCall& call) {
  if (replicas_.divided()) announce<&Run::weights_finite>(call);
  return stepper_->weights_finite();
}

void Run::agree_on_feed(const RankCall& call) {
  announce<&Run::agree_on_feed>(call);
  feed_->restore(parse_json(replicas_.agree(to_text(next_)), "the feed of rank 0"));
}

void Run::set_feed(const Json& state) {
  next_ = state;
  agree_on_feed();
}

void Run::initialise() {
  if (options_.init.empty())
    whole().initialise(options_.mask_seed());
  else
    load_initial(options_, spec_.vocabularies, whole());
  spread({});
}

void Run::spread(const RankCall& call) {
  announce<&Run::spread>(call);
  if (first_of_part()) {
    scatter_shards(*trained_, whole_ ? whole_->fp32_weights() : Matrix{}, trained_->fp32_weights());
    trained_->refresh_bf16_weights();
  }
  stepper_->spread_weights();
  if (call.optimizer_state && first_of_part()) {
    const OptimizerState from = whole_ ? whole_->optimizer_state() : OptimizerState{},
                         to = stepper_->whole_optimizer_state();
    scatter_shards(*trained_, from.first, to.first);
    scatter_shards(*trained_, from.second, to.second);
  }
  if (call.optimizer_state) stepper_->spread_optimizer_state();
  backend_->wait();
}

OptimizerState Run::collect(const RankCall& call) {
  announce<&Run::collect>(call);
  stepper_->collect_optimizer_state();
  if (first_of_part()) {
    const OptimizerState from = stepper_->whole_optimizer_state(),
                         to = whole_ ? whole_->optimizer_state() : OptimizerState{};
    gather_shards(*trained_, trained_->fp32_weights(), whole_ ? whole_->fp32_weights() : Matrix{});
    gather_shards(*trained_, from.first, to.first);
    gather_shards(*trained_, from.second, to.second);
  }
  return whole_optimizer_state();
}

void Run::gather_gradients(const RankCall& call) {
  announce<&Run::gather_gradients>(call);
  stepper_->gather_gradients();
}

Json Run::gradient_norms(const RankCall& call) {
  announce<&Run::gradient_norms>(call);
  return stepper_->gradient_norms();
}

void Run::forget_steps(const RankCall& call) {
  announce<&Run::forget_steps>(call);
  feed_->restore(begin_);
  for (const Matrix& block : {trained_->moment1(), trained_->moment2()})
    if (!block.empty()) backend_->zero(block.data, size_t(block.cols) * size_of(block.dtype));
}

void Run::end(const RankCall& call) {
  announce<&Run::end>(call);
  ended_ = true;
}

}  // namespace tx
