// Batches without padding: whole sentence pairs up to a fixed capacity, and dummy sentences.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lib/base/json.h"
#include "lib/data/cache.h"
#include "lib/data/order.h"
#include "lib/data/pair_dropout.h"

namespace tx {

inline constexpr uint32_t dummy_pair = 0xFFFFFFFF;
inline constexpr int32_t no_label = -1;
inline constexpr int longest_dummy = 64;

// One side of a batch; T is its capacity, S the sentences, with dummies. Sentence s is one pair.
struct BatchSide {
  // (T) source: tokens, <eos>; target: <bos>, or the token before a continued document, tokens.
  std::vector<int32_t> ids;
  std::vector<int32_t> offsets;    // (S+1) first row of each sentence; from 0 to T
  std::vector<uint32_t> pair;      // (T)   the pair's index in the epoch's order, or dummy_pair
  std::vector<uint32_t> position;  // (T)   position in the sentence, from 0
};

// The source rows that each target row should attend to; empty without word alignments.
struct BatchLinks {
  std::vector<int32_t> starts;   // (T+1) the links of row i start at columns[starts[i]]
  std::vector<int32_t> columns;  // rows of the source sentence, from 0, ascending within a row
};

// The last side is the target, and the only one of a language model. The first `sentences`
// sentences are real, the others dummies (ids <pad>, labels no_label), at least one, of at least
// one row on each side and at most longest_dummy rows unless another side has too few rows left.
struct Batch {
  std::vector<BatchSide> sides;
  // (T) of the target: tokens, then <eos> or a continued document's next token. no_label: no loss.
  // With `masked`, the masked tokens in their own rows.
  std::vector<int32_t> labels;
  int sentences = 0;
  std::vector<int64_t> tokens;  // real rows per side
  std::vector<int64_t> lines;   // line in the text of each real sentence, from 1
  int64_t epoch = 0;            // from 0
  BatchLinks links;
  // Number of a batch of this process's Packers, from 1; code that changes a batch sets it to 0.
  uint64_t serial = 0;
};

// The lengths of a cache's pairs in batches.
class PairLengths {
 public:
  // The cache must outlive this object. sentinels: their number for span corruption, which gives a
  // text two sides (masking.h); 0: the cache's sides.
  explicit PairLengths(const IdCache& cache, size_t sentinels = 0);

  const IdCache& cache() const { return *cache_; }
  int sides() const { return sentinels_ > 0 ? 2 : cache_->sides(); }
  int64_t pairs() const { return cache_->pairs(); }
  int length(int64_t pair, int side) const;  // tokens, without <eos>
  int longest(int side) const { return longest_[size_t(side)]; }
  int64_t rows(int side) const { return rows_[size_t(side)]; }  // of all pairs, with <eos>

 private:
  const IdCache* cache_;
  int sentinels_;
  std::vector<int> longest_;
  std::vector<int64_t> rows_;
};

class PairLinks;

struct PackerOptions {
  int batch_tokens = 4096;      // capacity of the target side
  std::vector<int> capacities;  // per side; empty: batch_capacities()
  uint64_t seed = 1;
  int window = 8192;                     // pairs to choose a batch from
  bool shuffle = true;                   // false: order of the text, for validation
  int64_t epochs = 0;                    // number of epochs; 0: unlimited
  bool masked = false;                   // masked language model (masking.h)
  std::vector<int> sentinels;            // if given, span corruption (masking.h)
  const PairDropout* dropout = nullptr;  // if given, re-segments pairs; must outlive the packer
  const PairLinks* links = nullptr;      // if given, links rows; must outlive the packer
};

// The capacity of each side: batch_tokens for the target; for the source that times the ratio of
// source to target tokens (with <eos>), rounded up to a multiple of 64.
std::vector<int> batch_capacities(const PairLengths& lengths, int batch_tokens);

// The least batch_tokens whose capacities, by the ratio of the first text, hold every pair of all.
int smallest_batch_tokens(const std::vector<PairLengths>& texts);
// UsageError if a pair exceeds a capacity, with the minimum unless the capacities are `fixed`.
void check_capacities(const std::vector<PairLengths>& texts, const std::vector<int>& capacities,
                      bool fixed = false);

// Packs every pair once per epoch, in a seeded random order: a function of cache and options.
class Packer {
 public:
  // The cache must outlive the packer. UsageError: check_capacities() of this text alone.
  Packer(const IdCache& cache, PackerOptions options);

  bool next(Batch& batch);  // false after options.epochs epochs
  // The number of batches of the first `epochs` epochs, or `max` if that is less (0: no limit).
  int64_t batches(int64_t epochs, int64_t max) const;
  int64_t epoch() const { return epoch_ + int64_t(epoch_over()); }  // of the next batch, from 0
  const std::vector<int>& capacities() const { return options_.capacities; }
  const PairLengths& lengths() const { return lengths_; }

  // The packer's position between two batches. After restore() a packer with the same cache and
  // options continues with the same batches. DataError: a state of another cache or other options.
  Json state() const;
  void restore(const Json& state);

 private:
  using PairIds = std::vector<std::vector<int>>;  // by side
  PairIds cut(uint32_t pair) const;
  bool epoch_over() const { return cursor_ == cache_.pairs() && window_.size() == 0; }
  void begin_epoch(int64_t epoch);
  void add_to_window(uint32_t place);
  void refill();
  bool begin_batch();
  Json identity() const;
  void restore_checked(const Json& state);

  const IdCache& cache_;
  PackerOptions options_;
  PairLengths lengths_;
  std::vector<int> room_;  // rows for real sentences, per side
  int64_t epoch_ = 0;
  int64_t cursor_ = 0;  // next index of the epoch's order to enter the window
  Permutation order_;
  Window window_;
  // With dropout: ids of the window's pairs, by index in the epoch's order.
  std::unordered_map<uint32_t, PairIds> waiting_;
};

}  // namespace tx
