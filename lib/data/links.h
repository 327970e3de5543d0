// Word alignments of parallel text: links of a line, and of the rows of a batch.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/data/packing.h"
#include "lib/subword/vocabulary.h"
#include "lib/subword/word_groups.h"
#include "lib/text/parse.h"

namespace tx {

// Reads the lines of a file of word alignments and checks them against the tokenised pair.
class LinkLines {
 public:
  // first: place of the first line, "FILE:1".
  LinkLines(const std::string& first, const Vocabulary& source, const Vocabulary& target);
  // The links of a line, without duplicates, by target word, then source word. DataError with the
  // place: not a link, or no such word. Thread-safe.
  std::vector<WordLink> read(const std::string& text, int64_t line, std::span<const int> source,
                             std::span<const int> target) const;

 private:
  std::string file_;
  WordStarts source_, target_;
};

// Maps word alignments to the rows of a batch.
class PairLinks {
 public:
  // The cache must have links and outlive this object. The row that predicts a target token gets
  // the links of its word; with `shift` the row that reads it.
  PairLinks(const IdCache& cache, const Vocabularies& vocabularies, bool shift);

  // Fills batch.links. Real sentence i is pair pairs[i] of the cache, possibly tokenised otherwise
  // (BPE-dropout): word indices do not change. Links of missing words are skipped.
  void write(const std::vector<uint32_t>& pairs, Batch& batch) const;

 private:
  void add_sentence(uint32_t pair, size_t sentence, const Batch& batch,
                    std::vector<std::vector<int32_t>>& columns) const;

  const IdCache& cache_;
  WordStarts source_, target_;
  bool shift_;
};

}  // namespace tx
