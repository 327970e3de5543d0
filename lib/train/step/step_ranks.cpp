// What of a step is of several ranks, and what they give each other between steps.
#include "lib/base/error.h"
#include "lib/train/ranks/rank_mover.h"
#include "lib/train/step/step.h"

namespace tx {

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

// Rounds of the block are finished by a thread while this one computes what is behind them.
void Stepper::add_last(const Batch& batch) {
  rank_sum_->begin_last(sum_.waiting());
  micro(batch, Work::train, [this] { rank_sum_->saw_closure(); });
  sum_.add_last_record();
}

Moments Stepper::whole_moments() {
  if (!rank_sum_) return parameters_.moments();
  if (parameters_.self().rank > 0) return {};
  return {parameters_.gradients(), sum_.spare()};
}

void Stepper::collect_moments() {
  if (!shards_) return;
  const Moments whole = whole_moments();
  shards_->collect(parameters_.moment1(), whole.first);
  shards_->collect(parameters_.moment2(), whole.second);
}

void Stepper::spread_moments() {
  if (!shards_) return;
  const Moments whole = whole_moments();
  shards_->spread(whole.first, parameters_.moment1());
  shards_->spread(whole.second, parameters_.moment2());
}

void Stepper::spread_weights() {
  if (!mover_) return;
  const Matrix weights = parameters_.master();
  mover_->broadcast(weights.data, size_t(weights.cols) * size_of(weights.dtype));
  parameters_.refresh_copy();
}

void Stepper::gather_gradients() {
  if (shards_) shards_->gather(parameters_.gradients());
}

}  // namespace tx
