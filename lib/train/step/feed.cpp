#include "lib/train/step/feed.h"

#include "lib/train/step/tree_sum.h"

namespace tx {

Feed::Feed(const IdCache& text, const Vocabularies& vocabularies, const TrainOptions& options,
           int batch_tokens, const std::vector<int>& sentinels)
    : options_(options) {
  if (options.bpe_dropout > 0)
    dropout_ = std::make_unique<PairDropout>(text, vocabularies, options.bpe_dropout, options.seed,
                                             options.bpe_dropout_epochs);
  if (text.has_links())
    links_ = std::make_unique<PairLinks>(text, vocabularies, options.guided_shift);
  PackerOptions packing;
  packing.batch_tokens = batch_tokens;
  packing.seed = options.seed;
  packing.epochs = options.epochs;
  packing.masked = options.kind == ModelKind::encoder;
  packing.sentinels = sentinels;
  packing.dropout = dropout_.get();
  packing.links = links_.get();
  packer_ = std::make_unique<Packer>(text, packing);
}

int64_t Feed::epoch_tokens() const {
  int64_t tokens = 0;
  for (int side = 0; side < lengths().sides(); ++side) tokens += lengths().rows(side);
  return tokens;
}

int64_t Feed::step_tokens() const {
  int64_t tokens = 0;
  for (const Batch& batch : batches_)
    for (const int64_t rows : batch.tokens) tokens += rows;
  return tokens;
}

int64_t Feed::steps(int64_t epochs, int64_t max) const {
  const int64_t each = options_.accumulate;
  return (packer_->batches(epochs, max * each) + each - 1) / each;
}

const std::vector<Batch>& Feed::next() {
  read_ahead();
  batches_.swap(next_);
  packer_ = std::move(ahead_);
  return batches_;
}

const std::vector<Batch>& Feed::read_ahead() {
  if (ahead_) return next_;
  ahead_ = std::make_unique<Packer>(*packer_);
  size_t count = 0;
  next_.resize(size_t(options_.accumulate));
  while (count < next_.size() && ahead_->next(next_[count])) ++count;
  next_.resize(count);
  return next_;
}

void Feed::restore(const Json& state) {
  packer_->restore(state.at("packer"));
  ahead_.reset();
}

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
  packer();  // UsageError for a sentence longer than its capacity
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
  found.resize(max);  // padded with zeros, which change no sum
  ranks->gather_all(found.data(), max * sizeof(StepRecord), gathered.data());
  for (const StepRecord& sums : gathered) add(sums, all);
  return all;
}

}  // namespace tx
