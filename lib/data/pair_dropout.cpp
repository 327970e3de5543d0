#include "lib/data/pair_dropout.h"

#include <algorithm>

#include "lib/base/error.h"

namespace tx {

PairDropout::PairDropout(const IdCache& cache, Vocabularies vocabularies, double probability,
                         uint64_t seed, int64_t epochs)
    : cache_(cache),
      vocabularies_(std::move(vocabularies)),
      probability_(probability),
      seed_(seed),
      epochs_(epochs) {
  TX_ASSERT(int(vocabularies_.size()) == cache.sides());
  for (size_t side = 0; side < vocabularies_.size(); ++side)
    check_has_merges(vocabularies_[side], "--bpe-dropout");
}

std::vector<int> PairDropout::ids(int64_t pair, int side, int64_t epoch, int max) const {
  const Vocabulary& vocabulary = vocabularies_[size_t(side)];
  std::vector<int> usual = cache_.ids(pair, side), ids;
  if (epochs_ > 0 && epoch >= epochs_) return usual;
  // A document may be cut inside a word.
  if (cache_.continues(pair) || (pair + 1 < cache_.pairs() && cache_.continues(pair + 1)))
    return usual;
  MergeDraws draws({probability_, seed_, uint32_t(epoch)}, cache_.line(pair), uint32_t(side));
  vocabulary.encode(vocabulary.decode(usual), draws, ids);
  const int limit = std::min(max, max_growth * cache_.longest(side));
  return int(ids.size()) > limit || ids.empty() ? usual : ids;
}

}  // namespace tx
