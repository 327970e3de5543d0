// The lengths of a cache's pairs as they stand in batches, on each side.
#pragma once
#include "lib/data/cache.h"
#include "lib/data/denoising.h"

namespace tx {

class PairLengths {
 public:
  // The cache must outlive it. sentinels: how many there are to take spans of a text out, which
  // then has two sides (denoising.h); 0: the sides are the cache's.
  explicit PairLengths(const IdCache& cache, size_t sentinels = 0);

  const IdCache& cache() const { return *cache_; }
  int sides() const { return sentinels_ > 0 ? 2 : cache_->sides(); }
  int64_t pairs() const { return cache_->pairs(); }
  int length(int64_t pair, int side) const;  // tokens, no <eos>
  int longest(int side) const { return longest_[size_t(side)]; }
  int64_t rows(int side) const { return rows_[size_t(side)]; }  // of all pairs, with <eos>

 private:
  const IdCache* cache_;
  int sentinels_;
  std::vector<int> longest_;
  std::vector<int64_t> rows_;
};

}  // namespace tx
