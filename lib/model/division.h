// How several ranks divide a flat block among them: each updates its elements and holds moments for
// them alone. The block is cut into rounds, which are moved one after another; in each round every
// rank has one shard, in the order of ranks, so that each round asks every rank for as much work.
#pragma once
#include <algorithm>

#include "kernels/view.h"

namespace tx {

struct ElementRange {
  int64_t first = 0, count = 0;
  int64_t end() const { return first + count; }
};

// Which rank of how many.
struct RankOf {
  int rank = 0, ranks = 1;
};

class Division {
 public:
  // Elements of one shard, a multiple of norm_block: 1 MiB of f32.
  static constexpr int64_t usual_shard = 16 * norm_block;

  explicit Division(int64_t elements = 0, int ranks = 1, int64_t shard = usual_shard)
      : elements_(elements), ranks_(ranks), shard_(shard) {}

  int ranks() const { return ranks_; }
  int rounds() const { return int((elements_ + ranks_ * shard_ - 1) / (ranks_ * shard_)); }
  // Of all ranks together.
  ElementRange round(int number) const {
    const int64_t first = number * ranks_ * shard_;
    return {first, std::min(ranks_ * shard_, elements_ - first)};
  }
  // Of one rank. It begins at a multiple of norm_block, and in the last round it may be empty.
  ElementRange shard(int number, int rank) const {
    const ElementRange all = round(number);
    const int64_t blocks = norm_blocks(all.count);
    const auto begin = [&](int r) {
      return all.first + std::min(all.count, blocks * r / ranks_ * norm_block);
    };
    return {begin(rank), begin(rank + 1) - begin(rank)};
  }
  int64_t longest(int number) const {  // of the shards of a round
    int64_t max = 0;
    for (int r = 0; r < ranks_; ++r) max = std::max(max, shard(number, r).count);
    return max;
  }
  // Where the moments of a rank's shard begin in its own block of moments.
  int64_t own_first(int number) const { return number * shard_; }
  // Elements of all shards of a rank.
  int64_t held(int rank) const {
    const int last = rounds() - 1;
    return last < 0 ? 0 : own_first(last) + shard(last, rank).count;
  }

 private:
  int64_t elements_;
  int ranks_;
  int64_t shard_;
};

// A flat block, (1, elements), elements a multiple of 64, as rows, which is how kernels divide
// their work.
inline Matrix rows_of(Matrix block) { return matrix(block.data, block.dtype, block.cols / 64, 64); }

}  // namespace tx
