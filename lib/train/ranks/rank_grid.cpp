#include "lib/train/ranks/rank_grid.h"

#include "lib/base/error.h"
#include "lib/model/part_exchange.h"
#include "lib/train/step/step.h"

namespace tx {

RankGrid::RankGrid(Communicator& all, int parts) : all_(&all) {
  int count = parts;
  all.broadcast(&count, sizeof count);
  TX_ASSERT(count > 0 && all.size() % count == 0);
  if (count == 1) return;
  parts_ = all.split(all.rank() / count);
  sharers_ = all.split(all.rank() % count);
}

ModelPart RankGrid::part() const {
  if (!parts_) return {};
  return {parts_->rank(), parts_->size(), parts_.get()};
}

RankOf RankGrid::share() const {
  if (!all_) return {};
  const Communicator& of = sharers_ ? *sharers_ : *all_;
  return {of.rank(), of.size()};
}

Communicator* RankGrid::sharers() {
  if (share().ranks == 1) return nullptr;
  return sharers_ ? sharers_.get() : all_;
}

namespace {

Matrix master_of(const Parameters* whole) { return whole ? whole->master() : Matrix{}; }
Moments moments_of(const Parameters* whole) { return whole ? whole->moments() : Moments{}; }

}  // namespace

void RankGrid::spread(const Parameters* whole, Parameters& own, Stepper& stepper,
                      bool with_moments) {
  if (first_of_part()) {
    spread_parts(own, master_of(whole), own.master());
    own.refresh_copy();
  }
  stepper.spread_weights();
  if (!with_moments) return;
  if (first_of_part()) {
    const Moments from = moments_of(whole), to = stepper.whole_moments();
    spread_parts(own, from.first, to.first);
    spread_parts(own, from.second, to.second);
  }
  stepper.spread_moments();
}

void RankGrid::collect(const Parameters* whole, const Parameters& own, Stepper& stepper) {
  stepper.collect_moments();
  if (!first_of_part()) return;
  const Moments from = stepper.whole_moments(), to = moments_of(whole);
  collect_parts(own, own.master(), master_of(whole));
  collect_parts(own, from.first, to.first);
  collect_parts(own, from.second, to.second);
}

}  // namespace tx
