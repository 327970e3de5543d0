// Batches without padding. A batch holds whole sentence pairs, one after another, in as many rows
// as fit a capacity that is the same for every batch; rows left over belong to dummy sentences.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/base/json.h"
#include "lib/data/cache.h"
#include "lib/data/pair_dropout.h"
#include "lib/data/pair_lengths.h"
#include "lib/data/permutation.h"
#include "lib/data/window.h"

namespace tx {

inline constexpr uint32_t dummy_pair = 0xFFFFFFFF;
inline constexpr int32_t no_label = -1;
inline constexpr int longest_dummy = 64;

// One side of a batch; T is the side's capacity, S the number of sentences, dummies included.
// Sentence s of one side belongs to sentence s of the other sides.
struct BatchSide {
  std::vector<int32_t> ids;        // (T)   source: tokens, <eos>; target: <bos>, tokens. A
                                   // sentence that goes on a document begins with its token before
  std::vector<int32_t> offsets;    // (S+1) first row of each sentence; from 0 to T
  std::vector<uint32_t> pair;      // (T)   the pair's place in the epoch's order, or dummy_pair
  std::vector<uint32_t> position;  // (T)   of the row in its sentence, from 0
};

// Which source rows each target row should attend to; empty where the text has no links.
struct BatchLinks {
  std::vector<int32_t> starts;   // (T+1) the links of row i are columns[starts[i]] and on
  std::vector<int32_t> columns;  // rows of the source sentence, from 0, rising within a row
};

// The last side is the target; a language model has no other. The first `sentences` sentences are
// real, those after them dummies (ids <pad>, labels no_label). Every batch has at least one dummy,
// and a dummy is not empty on any side: each side keeps a row for it. A dummy has at most
// longest_dummy rows, more only where another side has too few rows left to cut it further.
struct Batch {
  std::vector<BatchSide> sides;
  // (T) of the target: tokens, <eos> or, where the document goes on, its next token. no_label where
  // nothing is asked for: each token of a document is asked for once. With `masked`, only tokens to
  // guess, in their own rows.
  std::vector<int32_t> labels;
  int sentences = 0;
  std::vector<int64_t> tokens;  // real rows of each side
  std::vector<int64_t> lines;   // of each real sentence: its line in the text, from 1
  int64_t epoch = 0;            // from 0
  BatchLinks links;
  // Every batch that a Packer of this process makes has a number of its own, from 1. Others have 0,
  // and whoever changes the content of a batch sets it to 0.
  uint64_t serial = 0;
};

class PairLinks;

struct PackerOptions {
  int batch_tokens = 4096;      // the target side's capacity
  std::vector<int> capacities;  // of each side; empty: batch_capacities()
  uint64_t seed = 1;
  int window = 8192;                     // pairs to choose from
  bool shuffle = true;                   // false: the order of the text, as for validation
  int64_t epochs = 0;                    // next() ends after so many; 0: never
  bool masked = false;                   // hide tokens for a masked language model (masking.h)
  std::vector<int> sentinels;            // where given, take spans out of the text (denoising.h)
  const PairDropout* dropout = nullptr;  // where given, cuts the pairs; must outlive the packer
  const PairLinks* links = nullptr;      // where given, links the rows; must outlive the packer
};

// Capacity of each side: the target's is batch_tokens, another's is that times the ratio of the
// text's tokens (<eos> counted), rounded up to a multiple of 64.
std::vector<int> batch_capacities(const PairLengths& lengths, int batch_tokens);

// Gives every pair once per epoch, in a seeded random order; no batch mixes epochs. What it gives
// depends on the cache and the options alone.
class Packer {
 public:
  // The cache must outlive the packer. A pair longer than a capacity is a UsageError that names
  // both and the smallest --batch-tokens that holds every pair.
  Packer(const IdCache& cache, PackerOptions options);

  bool next(Batch& batch);  // false after options.epochs epochs
  int64_t epoch() const { return epoch_ + int64_t(epoch_over()); }  // of the next batch, from 0
  const std::vector<int>& capacities() const { return options_.capacities; }
  const PairLengths& lengths() const { return lengths_; }

  // The packer's place between two batches. After restore() a packer of the same cache and options
  // gives exactly the batches that this one would have given; a state of another cache or of other
  // options is a DataError.
  Json state() const;
  void restore(const Json& state);

 private:
  using PairIds = std::vector<std::vector<int>>;  // by side
  void check_lengths() const;
  PairIds cut(uint32_t pair) const;
  bool epoch_over() const { return cursor_ == cache_.pairs() && window_.size() == 0; }
  void begin_epoch(int64_t epoch);
  void add_to_window(uint32_t place);
  void refill();
  Json identity() const;
  void restore_checked(const Json& state);

  const IdCache& cache_;
  PackerOptions options_;
  PairLengths lengths_;
  std::vector<int> room_;  // rows for real sentences, by side
  int64_t epoch_ = 0;
  int64_t cursor_ = 0;  // the next place of the epoch's order to enter the window
  Permutation order_;
  Window window_;
  std::unordered_map<uint32_t, PairIds> waiting_;  // with dropout: of the window's pairs, by place
};

}  // namespace tx
