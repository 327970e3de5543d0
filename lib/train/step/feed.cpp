#include "lib/train/step/feed.h"

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

Json Feed::state() const { return Json{{"packer", packer_->state()}}; }

void Feed::restore(const Json& state) {
  packer_->restore(state.at("packer"));
  ahead_.reset();
}

}  // namespace tx
