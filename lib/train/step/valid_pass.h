// One pass over the validation text, shared by the ranks: each measures a contiguous range of its
// batches. The sums of each batch are added in the order of batches, so the figures are the same
// bits on any number of ranks, one included.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "kernels/view.h"
#include "lib/data/cache.h"
#include "lib/data/packing.h"
#include "lib/ranks/communicator.h"

namespace tx {

class ValidPass {
 public:
  // Adds the loss sums of a batch, as Stepper::evaluate() does.
  using Evaluate = std::function<void(const Batch& batch, StepRecord& sums)>;

  // The text, in order, with the same tokens to guess at every pass. `masked`, `sentinels`: those
  // of PackerOptions. UsageError for a sentence longer than its capacity. `text` must outlive it.
  ValidPass(const IdCache& text, const std::vector<int>& capacities, bool masked = false,
            const std::vector<int>& sentinels = {});
  // The sums of all batches, on every rank, each of which calls this; null: there is one.
  StepRecord run(Communicator* ranks, const Evaluate& evaluate);

 private:
  std::unique_ptr<Packer> packer() const;

  const IdCache& text_;
  PackerOptions packing_;
  int batches_ = 0;  // 0: not counted yet
};

}  // namespace tx
