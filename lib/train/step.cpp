#include "lib/train/step.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "lib/tensor/replay.h"

namespace tx {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A batch in the backend's memory, and what a pass over it needs beside.
struct Pass {
  std::span<const PackedSide> sides;
  const int32_t* labels = nullptr;
  DropoutRates rates;
  CrossGuide guide;
  StepRecord* record = nullptr;
};

// Forward pass and, when recording, the loss's gradient; the context is ready for backward().
void forward(Context& context, const Transformer& model, const Parameters& parameters,
             const Pass& p, double smoothing) {
  const Tensor logits = model.forward(context, p.sides, p.rates, {}, p.guide);
  const ModelPart& part = parameters.part();
  const int64_t pieces = parameters.whole().target().vocabulary;
  if (part.whole()) return cross_entropy(context, logits, p.labels, pieces, smoothing, p.record);
  const Share own = part.of(pieces);
  split_cross_entropy(context, logits, p.labels, {own.first, own.count, pieces}, smoothing,
                      p.record, *part.ranks);
}

}  // namespace

Stepper::Stepper(Backend& backend, Parameters& parameters, const Transformer& transformer,
                 const StepSettings& settings)
    : backend_(backend),
      parameters_(parameters),
      transformer_(transformer),
      settings_(settings),
      labels_(backend),
      link_starts_(backend),
      link_columns_(backend),
      record_(static_cast<StepRecord*>(
          on(backend_, [](auto& k) { return k.allocate(sizeof(StepRecord)); }))),
      sum_(backend, parameters.gradients(), record_),
      update_(parameters, settings.optimizer, settings.adam, record_) {}

Stepper::~Stepper() {
  on(backend_, [&](auto& k) { k.release(record_); });
}

size_t Stepper::plan(Backend& backend, Parameters& parameters, const Transformer& transformer,
                     const StepSettings& settings, const std::vector<int>& capacities) {
  Arena counting;
  Context context(backend, counting, parameters.dtype());
  context.recording = true;
  context.recompute = settings.recompute;
  parameters.begin_step();
  std::vector<PackedSide> sides(capacities.size());
  for (size_t i = 0; i < sides.size(); ++i) sides[i].rows = capacities[i];
  forward(context, transformer, parameters, {sides, nullptr, settings.dropout, {}, nullptr},
          settings.label_smoothing);
  context.backward();
  return counting.peak();
}

void Stepper::reserve(size_t arena_bytes, int batches) {
  if (rank_sum_) {
    rank_sum_->reserve(batches);
    for (const TermRange& range : rank_sum_->mine()) sum_.reserve(range.size());
    whole_moments();
  } else {
    sum_.reserve(batches);
  }
  arena_.reset();
  arena_ = std::make_unique<Arena>(backend_, arena_bytes);
}

// Empty sentences fill the batch up to a multiple of this where steps are replayed: few numbers
// of sentences occur then, and each is recorded once.
constexpr size_t sentence_steps = 256;

PackedSide Stepper::upload(const BatchSide& side, size_t number, DeviceSide& to) {
  std::vector<int32_t> offsets = side.offsets;
  if (replays(backend_)) {
    const size_t sentences = (offsets.size() - 1 + sentence_steps - 1) / sentence_steps;
    offsets.resize(sentences * sentence_steps + 1, offsets.back());
  }
  to.reserve_sentences(side.ids.size() + sentence_steps);
  std::vector<uint32_t> position = side.position;
  // A dummy may be longer than any real sentence; there is no loss at its positions.
  for (uint32_t& x : position) x = std::min(x, uint32_t(transformer_.longest() - 1));
  if (parameters_.part().whole()) return to.upload({side.ids, offsets, side.pair, position});
  const Share pieces = parameters_.part().of(parameters_.whole().sides[number].vocabulary);
  return to.upload({own_ids(pieces, side.ids), offsets, side.pair, position});
}

CrossGuide Stepper::upload(const BatchLinks& links) {
  if (links.starts.empty() || settings_.guidance.layer < 0) return {};
  // Of a row most often a few; the arrays then keep their places, as replayed steps need it.
  link_columns_.reserve(4 * links.starts.size());
  CrossGuide guide{settings_.guidance.layer, {}};
  guide.head.head = settings_.guidance.head;
  guide.head.weight = settings_.guidance.weight;
  guide.head.starts = link_starts_.set<int32_t>(links.starts);
  guide.head.columns = link_columns_.set<int32_t>(links.columns);
  guide.head.record = record_;
  return guide;
}

void Stepper::run(Work work, int64_t sentences, const std::function<void()>& f) {
  replay(backend_, sentences * 4 + int64_t(work), f);
}

void Stepper::micro(const Batch& batch, Work work, const std::function<void()>& after_closure) {
  const double start = now();
  while (sides_.size() < batch.sides.size()) sides_.emplace_back(backend_);
  std::vector<PackedSide> sides;
  for (size_t i = 0; i < batch.sides.size(); ++i)
    sides.push_back(upload(batch.sides[i], i, sides_[i]));
  const int32_t* labels = labels_.set<int32_t>(batch.labels);
  const CrossGuide guide = upload(batch.links);
  std::vector<const void*> places{labels, guide.head.starts, guide.head.columns};
  for (const PackedSide& side : sides)
    places.insert(places.end(), {side.ids, side.offsets, side.keys.pair, side.keys.position});
  if (places != places_) forget_graphs(backend_);
  places_ = places;
  const auto pass = [&] {
    if (work == Work::train) parameters_.begin_step();
    Context context(backend_, *arena_, parameters_.dtype());
    context.recording = work != Work::evaluate;
    context.recompute = settings_.recompute;
    context.after_closure = after_closure;
    DropoutRates rates;
    if (context.recording) {
      rates = settings_.dropout;
      rates.record = record_;
    }
    forward(context, transformer_, parameters_, {sides, labels, rates, guide, record_},
            settings_.label_smoothing);
    const double middle = now();
    times_.forward += middle - start;
    context.backward();
    if (work == Work::train) parameters_.finish_gradients();
    times_.backward += now() - middle;
  };
  if (work == Work::evaluate)
    pass();
  else
    run(work, sides.front().sentences, pass);
}

void Stepper::update() {
  const double start = now();
  if (rank_sum_)
    update_.run();
  else
    run(Work::update, 0, [&] { update_.run(); });
  times_.update += now() - start;
}

// `last`: of all that this rank adds.
void Stepper::add(const std::vector<Batch>& batches, TermRange range, bool last) {
  sum_.begin(range.size());
  for (int i = range.lo; i < range.hi; ++i) {
    if (last && order_ && i + 1 == range.hi) return add_last(batches[size_t(i)]);
    micro(batches[size_t(i)], Work::train);
    sum_.add_term();
  }
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
  record.clip_norm = settings_.clip_norm;
  record.loss_limit = loss_limit;
  on(backend_, [&](auto& k) { k.upload(record_, &record, sizeof record); });
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
  on(backend_, [&](auto& k) { k.download(&record, record_, sizeof record); });
  return record;
}

StepRecord Stepper::step(const std::vector<Batch>& batches, int64_t number, double rate,
                         double loss_limit) {
  launch(batches, number, rate, loss_limit);
  return finish();
}

StepRecord Stepper::release(StepRecord record) {
  record.loss_limit = 0;
  on(backend_, [&](auto& k) { k.upload(record_, &record, sizeof record); });
  update();
  on(backend_, [&](auto& k) { k.download(&record, record_, sizeof record); });
  return record;
}

void Stepper::rehearse(const Batch& batch) {
  const StepRecord record;
  on(backend_, [&](auto& k) { k.upload(record_, &record, sizeof record); });
  if (rank_sum_ && !on(backend_, [](auto& k) { return k.has_own_memory(); }))
    rehearse_order(batch);
  else
    micro(batch, Work::train);
  times_ = StepTimes{};
}

void Stepper::evaluate(const Batch& batch, StepRecord& sums) {
  on(backend_, [&](auto& k) { k.upload(record_, &sums, sizeof sums); });
  micro(batch, Work::evaluate);
  on(backend_, [&](auto& k) { k.download(&sums, record_, sizeof sums); });
}

bool Stepper::weights_finite() {
  StepRecord norm;
  on(backend_, [&](auto& k) { k.upload(record_, &norm, sizeof norm); });
  update_.norm(parameters_.master());
  on(backend_, [&](auto& k) { k.download(&norm, record_, sizeof norm); });
  return std::isfinite(norm.gradient_norm);
}

}  // namespace tx
