#include "lib/data/pair_lengths.h"

#include "lib/base/error.h"

namespace tx {

PairLengths::PairLengths(const IdCache& cache, size_t sentinels)
    : cache_(&cache), sentinels_(int(sentinels)) {
  TX_ASSERT(sentinels == 0 || cache.sides() == 1);
  for (int side = 0; side < sides(); ++side) {
    int64_t tokens = 0;
    if (sentinels_ > 0) {
      for (int64_t pair = 0; pair < pairs(); ++pair) tokens += length(pair, side);
      longest_.push_back(denoised_length(cache.longest(0), side, sentinels_));
    } else {
      tokens = cache.tokens(side);
      longest_.push_back(cache.longest(side));
    }
    rows_.push_back(tokens + pairs());
  }
}

int PairLengths::length(int64_t pair, int side) const {
  return sentinels_ > 0 ? denoised_length(cache_->length(pair, 0), side, sentinels_)
                        : cache_->length(pair, side);
}

}  // namespace tx
