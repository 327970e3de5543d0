// The pairs from which the next batch is filled, oldest first, and the choice among them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tx {

// A pair waiting for its batch. Rows count <eos>.
struct Candidate {
  uint32_t place;  // in the epoch's order
  uint32_t pair;   // in the cache
};

class Window {
 public:
  // mean_rows: of a pair, by side; from it follows about how many pairs fit into a batch.
  explicit Window(std::vector<double> mean_rows);

  size_t size() const { return candidates_.size(); }
  const Candidate& operator[](size_t i) const { return candidates_[i]; }
  void add(const Candidate& candidate, const std::vector<int>& rows);
  void clear();

  // Takes out the pairs of one batch with at most room[s] rows on side s: the oldest first, so that
  // every pair gets its turn, and for the last pairs those that make all sides end full. Empty only
  // when nothing fits.
  std::vector<Candidate> take(std::vector<int> room);

 private:
  static constexpr size_t none = size_t(-1);
  bool fits(size_t i, const std::vector<int>& room) const;
  double pairs_left(const std::vector<int>& room) const;
  size_t oldest(size_t from, const std::vector<int>& room) const;
  size_t nearest(const std::vector<double>& wanted, const std::vector<int>& room) const;
  void compact();

  std::vector<double> mean_;
  std::vector<Candidate> candidates_;
  std::vector<std::vector<int>> rows_;  // by side, then candidate; 0: taken
};

}  // namespace tx
