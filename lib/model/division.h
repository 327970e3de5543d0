// Sharding of flat blocks over data-parallel ranks (ZeRO stage 1, Rajbhandari et al., 2020): each
// rank updates only its shards and holds the optimizer state for them. A block is cut into rounds,
// communicated one by one; each round has one shard of equal size per rank, in order.
#pragma once
#include <algorithm>

#include "kernels/view.h"

namespace tx {

// The elements first .. end() - 1.
struct ElementRange {
  int64_t first = 0, count = 0;
  int64_t end() const { return first + count; }
};

inline ElementRange intersection(ElementRange a, ElementRange b) {
  const int64_t first = std::max(a.first, b.first);
  return {first, std::max<int64_t>(0, std::min(a.end(), b.end()) - first)};
}

// A rank and the number of ranks.
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
  // The elements of a round, over all ranks.
  ElementRange round(int number) const {
    const int64_t first = number * ranks_ * shard_;
    return {first, std::min(ranks_ * shard_, elements_ - first)};
  }
  // The elements of a rank in a round, from a multiple of norm_block; the last may be empty.
  ElementRange shard(int number, int rank) const {
    const ElementRange all = round(number);
    const int64_t blocks = norm_blocks(all.count);
    const auto begin = [&](int r) {
      return all.first + std::min(all.count, blocks * r / ranks_ * norm_block);
    };
    return {begin(rank), begin(rank + 1) - begin(rank)};
  }
  int64_t longest(int number) const {  // elements of the largest shard of a round
    int64_t max = 0;
    for (int r = 0; r < ranks_; ++r) max = std::max(max, shard(number, r).count);
    return max;
  }
  // Offset of the shard's optimizer state in the rank's own block.
  int64_t own_first(int number) const { return number * shard_; }
  // Elements of all shards of a rank together.
  int64_t held(int rank) const {
    const int last = rounds() - 1;
    return last < 0 ? 0 : own_first(last) + shard(last, rank).count;
  }

 private:
  int64_t elements_;
  int ranks_;
  int64_t shard_;
};

// A flat block (1, elements) as (elements / 64, 64): kernels parallelise over rows.
inline Matrix rows_of(Matrix block) { return matrix(block.data, block.dtype, block.cols / 64, 64); }

}  // namespace tx
