// BPE-dropout for parallel text in training: each epoch cuts each line anew.
#pragma once
#include <cstdint>
#include <vector>

#include "lib/data/cache.h"
#include "lib/subword/vocabulary.h"

namespace tx {

// The cache holds the usual ids, and a model's ids are the text: decoded and encoded again with
// dropout they give other tokens of the same line. The result depends on the seed, the epoch, the
// line's number in the text and its side alone, so a resumed run sees what an uninterrupted one
// would have seen.
class PairDropout {
 public:
  // A line has at most this many times the tokens of the side's longest line. Lines that would get
  // more keep their usual ids, so that a run knows the length of its longest sentence beforehand.
  static constexpr int max_growth = 2;

  // epochs: only the first ones, this many; 0: all. The cache must outlive this. A vocabulary
  // without merges is a UsageError.
  PairDropout(const IdCache& cache, Vocabularies vocabularies, double probability, uint64_t seed,
              int64_t epochs = 0);

  double probability() const { return probability_; }
  int64_t epochs() const { return epochs_; }
  // Ids of one side of a pair in an epoch, the usual ones of a document that was cut: at most
  // `most`, unless the usual ones are more.
  std::vector<int> ids(int64_t pair, int side, int64_t epoch, int max) const;

 private:
  const IdCache& cache_;
  Vocabularies vocabularies_;
  double probability_;
  uint64_t seed_;
  int64_t epochs_;
};

}  // namespace tx
