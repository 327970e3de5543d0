// BPE-dropout (Provilkov et al., 2020): every epoch re-segments the training text.
#pragma once
#include <cstdint>
#include <vector>

#include "lib/data/cache.h"
#include "lib/subword/vocabulary.h"

namespace tx {

// Decodes ids of the cache and encodes the text again with dropout, by the seed, the epoch, the
// line number and the side alone, so that resumed runs see the same text.
class PairDropout {
 public:
  // Limit on the length of a line, relative to the side's longest line. Lines that would exceed it
  // keep their regular ids, so that the longest sentence is known in advance.
  static constexpr int max_growth = 2;

  // Applies to the first `epochs` epochs; 0: all. UsageError: a vocabulary without merges.
  PairDropout(const IdCache& cache, Vocabularies vocabularies, double probability, uint64_t seed,
              int64_t epochs = 0);

  double probability() const { return probability_; }
  int64_t epochs() const { return epochs_; }
  // The ids of one side of a pair in an epoch; the regular ones if they would be more than `max`,
  // or if the pair is part of a document that was cut.
  std::vector<int> ids(int64_t pair, int side, int64_t epoch, int max) const;

 private:
  const IdCache& cache_;
  Vocabularies vocabularies_;
  double probability_;
  uint64_t seed_;
  int64_t epochs_;
};

}  // namespace tx
