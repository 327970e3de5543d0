#include "lib/train/step/valid_pass.h"

#include "lib/train/ranks/rank_sum.h"

namespace tx {

namespace {

void add(const StepRecord& from, StepRecord& to) {
  to.loss += from.loss;
  to.nll += from.nll;
  to.correct += from.correct;
  to.labels += from.labels;
}

}  // namespace

ValidPass::ValidPass(const IdCache& text, const std::vector<int>& capacities, bool masked,
                     const std::vector<int>& sentinels)
    : text_(text) {
  packing_.capacities = capacities;
  packing_.batch_tokens = capacities.back();
  packing_.shuffle = false;
  packing_.epochs = 1;
  packing_.masked = masked;
  packing_.sentinels = sentinels;
  packer();
}

std::unique_ptr<Packer> ValidPass::packer() const {
  return std::make_unique<Packer>(text_, packing_);
}

StepRecord ValidPass::run(Communicator* ranks, const Evaluate& evaluate) {
  StepRecord all;
  const auto measured = [&](const Batch& batch) {
    StepRecord sums;
    evaluate(batch, sums);
    return sums;
  };
  Batch batch;
  if (!ranks) {
    for (const auto text = packer(); text->next(batch);) add(measured(batch), all);
    return all;
  }
  if (batches_ == 0)
    for (const auto text = packer(); text->next(batch);) ++batches_;
  const TermRange mine = share_of(batches_, ranks->rank(), ranks->size());
  const size_t max = size_t((batches_ + ranks->size() - 1) / ranks->size());
  std::vector<StepRecord> found, gathered(max * size_t(ranks->size()));
  const auto text = packer();
  for (int i = 0; i < mine.hi && text->next(batch); ++i)
    if (i >= mine.lo) found.push_back(measured(batch));
  found.resize(max);  // the rest are zeros, and change no sum
  ranks->gather_all(found.data(), max * sizeof(StepRecord), gathered.data());
  for (const StepRecord& sums : gathered) add(sums, all);
  return all;
}

}  // namespace tx
