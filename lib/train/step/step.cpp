#include "lib/train/step/step.h"

#include <algorithm>
#include <cmath>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/tensor/arena.h"

namespace tx {
namespace {

// For training passes.
DropoutRates rates_of(const TrainOptions& o, const StepRecord* record = nullptr) {
  return {o.dropout, o.attention_dropout, o.relu_dropout, o.mask_seed(), record};
}

// The inputs of a pass: a batch in device memory and its settings.
struct Pass {
  std::span<const PackedSide> sides;
  const int32_t* labels = nullptr;
  DropoutRates rates;
  CrossGuide guide;
  StepRecord* record = nullptr;
  double smoothing = 0;
  Consistency consistency;  // weight 0: every sentence occurs once
};

// Forward pass and loss; when recording, the context is then ready for backward().
void forward(Context& context, const Transformer& model, const Parameters& parameters,
             const Pass& p) {
  const Tensor logits = model.forward(context, p.sides, p.rates, {}, p.guide);
  const ModelShard& part = parameters.shard();
  const int64_t tokens = parameters.whole().target().vocabulary;
  if (p.consistency.weight > 0)
    return consistency_loss(context, logits, p.labels, tokens, p.smoothing, p.consistency,
                            p.record);
  if (part.whole()) return cross_entropy(context, logits, p.labels, tokens, p.smoothing, p.record);
  const ElementRange own = part.of(tokens);
  split_cross_entropy(context, logits, p.labels, {own.first, own.count, tokens}, p.smoothing,
                      p.record, *part.ranks);
}

}  // namespace

Stepper::Stepper(Backend& backend, Parameters& parameters, const Transformer& transformer,
                 const TrainOptions& options)
    : backend_(backend),
      parameters_(parameters),
      transformer_(transformer),
      options_(options),
      guided_(options.guided()),
      batch_(backend, parameters, transformer.longest(), guided_.layer >= 0),
      record_(static_cast<StepRecord*>(backend_->allocate(sizeof(StepRecord)))),
      sum_(backend, parameters.gradients(), record_),
      update_(parameters, options, record_) {}

size_t Stepper::plan(Backend& backend, Parameters& parameters, const Transformer& transformer,
                     const TrainOptions& options, const std::vector<int>& capacities) {
  size_t peak = 0;
  for (const bool training : {true, false}) {  // false: validation
    Arena counting;
    Context context(backend, counting, parameters.dtype());
    context.recording = training;
    context.recompute = options.recompute;
    if (training) parameters.begin_step();
    std::vector<PackedSide> sides(capacities.size());
    for (size_t i = 0; i < sides.size(); ++i)
      sides[i].rows = (training ? options.passes() : 1) * capacities[i];
    Pass pass{sides, nullptr, {}, {}, nullptr, options.label_smoothing, {}};
    if (training) pass.rates = rates_of(options), pass.consistency = options.consistency_term();
    forward(context, transformer, parameters, pass);
    context.backward();
    peak = std::max(peak, counting.peak());
  }
  return peak;
}

void Stepper::reserve(size_t arena_bytes, int batches) {
  if (rank_sum_) {
    rank_sum_->reserve(batches);
    for (const TermRange& range : rank_sum_->mine()) sum_.reserve(range.size());
    whole_optimizer_state();
  } else {
    sum_.reserve(batches);
  }
  arena_.reset();
  arena_ = std::make_unique<Arena>(backend_, arena_bytes);
}

CrossGuide Stepper::guide() const {
  if (!batch_.link_starts()) return {};
  CrossGuide guide{guided_.layer, {}};
  guide.head.head = guided_.head;
  guide.head.weight = options_.guided_weight;
  guide.head.starts = batch_.link_starts();
  guide.head.columns = batch_.link_columns();
  guide.head.record = record_;
  return guide;
}

void Stepper::upload(const Batch& batch, Work work) {
  Copies copies;
  if (work != Work::evaluate && options_.passes() == 2)
    copies = {true, options_.consistency == SecondPass::simcut ? options_.cutoff : 0,
              options_.seed};
  batch_.upload(batch, copies);
}

void Stepper::run(Work work, int64_t sentences, const std::function<void()>& f) {
  replay(backend_, sentences * 4 + int64_t(work), f);
}

void Stepper::micro(const Batch& batch, Work work, const std::function<void()>& after_closure) {
  const double start = steady_seconds();
  const Consistency consistency =
      work == Work::evaluate ? Consistency() : options_.consistency_term();
  upload(batch, work);
  const CrossGuide guide = this->guide();
  const auto pass = [&] {
    if (work == Work::train) parameters_.begin_step();
    Context context(backend_, *arena_, parameters_.dtype());
    context.recording = work != Work::evaluate;
    context.recompute = options_.recompute;
    context.after_closure = after_closure;
    DropoutRates rates;
    if (context.recording) rates = rates_of(options_, record_);
    forward(context, transformer_, parameters_,
            {batch_.sides(), batch_.labels(), rates, guide, record_, options_.label_smoothing,
             consistency});
    const double middle = steady_seconds();
    times_.forward += middle - start;
    context.backward();
    if (work == Work::train) parameters_.finish_gradients();
    times_.backward += steady_seconds() - middle;
  };
  if (work == Work::evaluate) return pass();
  if (batch_.places() != places_) forget_graphs(backend_);
  places_ = batch_.places();
  run(work, batch_.sides().front().sentences, pass);
}

void Stepper::update() {
  const double start = steady_seconds();
  if (rank_sum_)
    update_.run();
  else
    run(Work::update, 0, [&] { update_.run(); });
  times_.update += steady_seconds() - start;
}

// `last`: the range is the last one of this rank.
void Stepper::add(const std::vector<Batch>& batches, TermRange range, bool last) {
  sum_.begin(range.size());
  for (int i = range.lo; i < range.hi; ++i) {
    if (last && order_ && i + 1 == range.hi) return add_last(batches[size_t(i)]);
    micro(batches[size_t(i)], Work::train);
    sum_.add_term();
  }
}

void Stepper::prepare(const std::vector<Batch>& batches) {
  size_t first = 0;
  if (rank_sum_ && !rank_sum_->mine().empty()) first = size_t(rank_sum_->mine().front().lo);
  if (first < batches.size()) upload(batches[first], Work::train);
}

void Stepper::launch(const std::vector<Batch>& batches, int64_t number, double rate,
                     double loss_limit) {
  StepRecord record;
  int64_t labels = 0;
  for (const Batch& batch : batches)
    labels += std::count_if(batch.labels.begin(), batch.labels.end(),
                            [](int32_t label) { return label != no_label; });
  record.step = number;
  record.rate = rate;
  record.loss_scale = 1 / double(labels);
  record.clip_norm = options_.clip_norm;
  record.loss_limit = loss_limit;
  backend_->upload(record_, &record, sizeof record);
  const int count = int(batches.size());
  if (rank_sum_) {
    rank_sum_->begin(count);
    for (const TermRange& range : rank_sum_->mine()) {
      add(batches, range, &range == &rank_sum_->mine().back());
      rank_sum_->keep();
    }
    rank_sum_->finish();
  } else {
    add(batches, {0, count});
  }
  update();
}

StepRecord Stepper::finish() {
  StepRecord record;
  backend_->download(&record, record_, sizeof record);
  return record;
}

StepRecord Stepper::step(const std::vector<Batch>& batches, int64_t number, double rate,
                         double loss_limit) {
  launch(batches, number, rate, loss_limit);
  return finish();
}

StepRecord Stepper::release(StepRecord record) {
  record.loss_limit = 0;
  backend_->upload(record_, &record, sizeof record);
  update();
  backend_->download(&record, record_, sizeof record);
  return record;
}

void Stepper::rehearse(const Batch& batch) {
  const StepRecord record;
  backend_->upload(record_, &record, sizeof record);
  if (rank_sum_ && !backend_->has_own_memory())
    rehearse_order(batch);
  else
    micro(batch, Work::train);
  times_ = StepTimes{};
}

void Stepper::evaluate(const Batch& batch, StepRecord& sums) {
  backend_->upload(record_, &sums, sizeof sums);
  micro(batch, Work::evaluate);
  backend_->download(&sums, record_, sizeof sums);
}

bool Stepper::weights_finite() {
  StepRecord norm;
  backend_->upload(record_, &norm, sizeof norm);
  update_.norm(parameters_.fp32_weights());
  backend_->download(&norm, record_, sizeof norm);
  return std::isfinite(norm.gradient_norm);
}

void Stepper::share(Communicator& ranks) {
  const RankOf self = parameters_.self();
  TX_ASSERT(self.rank == ranks.rank() && self.ranks == ranks.size());
  const Division& division = parameters_.division();
  mover_ = make_mover(backend_, ranks);
  shards_ = std::make_unique<Shards>(backend_, *mover_, division, self);
  rank_sum_ = std::make_unique<RankSum>(backend_, *mover_, division, self, parameters_.gradients(),
                                        record_);
  update_.share(*shards_);
}

void Stepper::rehearse_order(const Batch& batch) {
  order_ = std::make_unique<RoundOrder>(parameters_);
  micro(batch, Work::train, [this] { order_->saw_closure(); });
  order_->end();
  rank_sum_->follow(order_.get());
}

// A background thread exchanges rounds of the block while this one computes the next.
void Stepper::add_last(const Batch& batch) {
  rank_sum_->begin_last(sum_.waiting());
  micro(batch, Work::train, [this] { rank_sum_->saw_closure(); });
  sum_.add_last_record();
}

OptimizerState Stepper::whole_optimizer_state() {
  if (!rank_sum_) return parameters_.optimizer_state();
  if (parameters_.self().rank > 0) return {};
  return {parameters_.gradients(), sum_.spare()};
}

void Stepper::collect_optimizer_state() {
  if (!shards_) return;
  const OptimizerState whole = whole_optimizer_state();
  shards_->collect(parameters_.moment1(), whole.first);
  shards_->collect(parameters_.moment2(), whole.second);
}

void Stepper::spread_optimizer_state() {
  if (!shards_) return;
  const OptimizerState whole = whole_optimizer_state();
  shards_->spread(whole.first, parameters_.moment1());
  shards_->spread(whole.second, parameters_.moment2());
}

void Stepper::spread_weights() {
  if (!mover_) return;
  const Matrix weights = parameters_.fp32_weights();
  mover_->broadcast(weights.data, size_t(weights.cols) * size_of(weights.dtype));
  parameters_.refresh_bf16_weights();
}

Json Stepper::gradient_norms() {
  gather_gradients();
  return update_.gradient_norms();
}

}  // namespace tx
