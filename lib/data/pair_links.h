// The word alignments of parallel text as links between the rows of a batch.
#pragma once
#include <cstdint>
#include <vector>

#include "lib/data/packing.h"
#include "lib/subword/vocabulary.h"
#include "lib/subword/word_groups.h"

namespace tx {

class PairLinks {
 public:
  // The cache has links, and must outlive this. The row that predicts a target token gets the links
  // of its word; with `shift` the row that reads it.
  PairLinks(const IdCache& cache, const Vocabularies& vocabularies, bool shift);

  // Fills batch.links; real sentence i is pair pairs[i] of the cache, in whichever tokens the batch
  // has it: its words have the same numbers in all of them. The links of a word that is not there
  // are left out.
  void write(const std::vector<uint32_t>& pairs, Batch& batch) const;

 private:
  void add_sentence(uint32_t pair, size_t sentence, const Batch& batch,
                    std::vector<std::vector<int32_t>>& columns) const;

  const IdCache& cache_;
  WordStarts source_, target_;
  bool shift_;
};

}  // namespace tx
