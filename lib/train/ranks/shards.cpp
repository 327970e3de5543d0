#include "lib/train/ranks/shards.h"

#include <vector>

#include "lib/base/error.h"

namespace tx {

Shards::Shards(Backend& backend, Mover& mover, const Division& division, RankOf self)
    : backend_(backend),
      mover_(mover),
      division_(division),
      self_(self),
      room_(backend),
      parts_(backend),
      places_(backend) {
  list_squares();
}

// Where the shards of a round are not of one length they go through room for the longest.
void Shards::gather(Matrix block) {
  const size_t each = size_of(block.dtype);
  for (int i = 0; i < division_.rounds(); ++i) {
    const ElementRange round = division_.round(i), mine = division_.shard(i, self_.rank);
    if (division_.longest(i) * self_.ranks == round.count) {
      mover_.gather_all(part_of(block, mine).data, size_t(mine.count) * each,
                        part_of(block, round).data);
      continue;
    }
    const size_t longest = size_t(division_.longest(i)) * each;
    char* all = room_.reserve(longest * size_t(self_.ranks));
    char* own = all + longest * size_t(self_.rank);
    backend_->copy(own, part_of(block, mine).data, size_t(mine.count) * each);
    mover_.gather_all(own, longest, all);
    for (int r = 0; r < self_.ranks; ++r) {
      const ElementRange shard = division_.shard(i, r);
      if (r != self_.rank)
        backend_->copy(part_of(block, shard).data, all + longest * size_t(r),
                       size_t(shard.count) * each);
    }
  }
}

namespace {

// Bytes to or from rank 0 alone.
std::vector<size_t> only_first(int ranks, int64_t elements, size_t each) {
  std::vector<size_t> bytes(size_t(ranks), 0);
  bytes[0] = size_t(elements) * each;
  return bytes;
}

// Bytes of every rank's shard of a round, for rank 0; none for another.
std::vector<size_t> of_all(const Division& division, int round, RankOf self, size_t each) {
  std::vector<size_t> bytes(size_t(self.ranks), 0);
  for (int r = 0; r < self.ranks && self.rank == 0; ++r)
    bytes[size_t(r)] = size_t(division.shard(round, r).count) * each;
  return bytes;
}

}  // namespace

void Shards::collect(Matrix own, Matrix whole) {
  const size_t each = size_of(own.dtype);
  for (int i = 0; i < division_.rounds(); ++i) {
    const ElementRange mine{division_.own_first(i), division_.shard(i, self_.rank).count};
    const Matrix to = self_.rank == 0 ? part_of(whole, division_.round(i)) : Matrix{};
    mover_.exchange(part_of(own, mine).data, only_first(self_.ranks, mine.count, each), to.data,
                    of_all(division_, i, self_, each));
  }
}

void Shards::spread(Matrix whole, Matrix own) {
  const size_t each = size_of(own.dtype);
  for (int i = 0; i < division_.rounds(); ++i) {
    const ElementRange mine{division_.own_first(i), division_.shard(i, self_.rank).count};
    const Matrix from = self_.rank == 0 ? part_of(whole, division_.round(i)) : Matrix{};
    mover_.exchange(from.data, of_all(division_, i, self_, each), part_of(own, mine).data,
                    only_first(self_.ranks, mine.count, each));
  }
}

// A sum of two floats' width: kernels move rows of f32.
void Shards::list_squares() {
  for (int r = 0; r < self_.ranks; ++r) max_ = std::max(max_, norm_blocks(division_.held(r)));
  std::vector<int32_t> places;
  for (int i = 0; i < division_.rounds(); ++i)
    for (int r = 0; r < self_.ranks; ++r) {
      const int64_t first = r * max_ + division_.own_first(i) / norm_block;
      for (int64_t b = 0; b < norm_blocks(division_.shard(i, r).count); ++b)
        places.push_back(int32_t(first + b));
    }
  backend_->upload(places_.reserve(places.size() * 4), places.data(), places.size() * 4);
}

void Shards::gather_squares(Matrix block, Matrix squares) {
  const size_t bytes = size_t(max_) * sizeof(double);
  char* all = parts_.reserve(bytes * size_t(self_.ranks));
  char* own = all + bytes * size_t(self_.rank);
  const Matrix sums = matrix(own, DType::f64, 1, max_);
  for (int i = 0; i < division_.rounds(); ++i) {
    const ElementRange mine = division_.shard(i, self_.rank);
    if (mine.count == 0) continue;
    backend_->square_sums(part_of(block, mine), sums.columns(division_.own_first(i) / norm_block,
                                                             norm_blocks(mine.count)));
  }
  mover_.gather_all(own, bytes, all);
  backend_->gather_rows(matrix(all, DType::f32, self_.ranks * max_, 2),
                        reinterpret_cast<const int32_t*>(places_.data()),
                        matrix(squares.data, DType::f32, squares.cols, 2));
}

}  // namespace tx
