// The order of pairs: a permutation of each epoch, and a window from which a batch is filled.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tx {

// A seeded random permutation of 0..size-1 without a table: a Feistel network (Luby and Rackoff,
// 1988) over the next even number of bits, with Philox as its round function. Cycle walking: a
// value outside the range is permuted again until it is inside (on average at most four times).
class Permutation {
 public:
  // The order of one epoch; size: 1 to 2^32 - 1.
  Permutation(uint64_t size, uint64_t seed, uint64_t epoch);
  // The element at index `place`, a bijection of [0, size).
  uint64_t operator()(uint64_t place) const;

 private:
  uint64_t rounds(uint64_t value) const;

  uint64_t size_, seed_, epoch_;
  int half_bits_ = 1;
};

// A pair in the window.
struct Candidate {
  uint32_t place;  // in the epoch's order
  uint32_t pair;   // in the cache
};

// The pairs from which the next batch is chosen, oldest first. Rows include <eos>.
class Window {
 public:
  // mean_rows: mean rows of a pair, per side, to estimate how many pairs fit into a batch.
  explicit Window(std::vector<double> mean_rows);

  size_t size() const { return candidates_.size(); }
  const Candidate& operator[](size_t i) const { return candidates_[i]; }
  void add(const Candidate& candidate, const std::vector<int>& rows);
  void clear();

  // Removes and returns the pairs of one batch, at most free_rows[s] rows on side s: the oldest
  // first, the last ones so that all sides are filled. Empty if nothing fits.
  std::vector<Candidate> take(std::vector<int> free_rows);

 private:
  static constexpr size_t none = size_t(-1);
  bool fits(size_t i, const std::vector<int>& free_rows) const;
  double pairs_left(const std::vector<int>& free_rows) const;
  size_t oldest(size_t from, const std::vector<int>& free_rows) const;
  size_t nearest(const std::vector<double>& wanted, const std::vector<int>& free_rows) const;
  void compact();

  std::vector<double> mean_;
  std::vector<Candidate> candidates_;
  std::vector<std::vector<int>> rows_;  // [side][candidate]; 0: taken
};

}  // namespace tx
