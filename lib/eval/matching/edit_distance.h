// Edit distance of word sequences within a band around the diagonal, for one pair and for
// rearrangements of its hypothesis, and TER's search for shifts.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tx {

enum class Edit : uint8_t { keep, replace, insert, remove };  // into the reference

// The matrix D(i,j) is the cost of changing the first i words of the hypothesis into the first j of
// the reference. Row i has the columns within the band's width of its diagonal i * m/n, the last
// row all up to the end (n, m: numbers of words of both). Outside the band the cost is infinite.
class BandedEditDistance {
 public:
  // Fills the matrix; the sequences must live as long as it is used. The hypothesis may be empty.
  void set(std::span<const int32_t> hypothesis, std::span<const int32_t> reference);
  int32_t distance() const { return distance_; }
  // The cheapest edits in order; ties from the end backwards: keep or replace, remove, insert.
  void trace(std::vector<Edit>& edits) const;
  // The distance if `words` replace [begin, end); rows before and costs after are reused.
  int32_t distance_with(size_t begin, size_t end, std::span<const int32_t> words);

 private:
  // Columns [first, last) of row i, stored from `offset` on.
  struct Row {
    size_t first = 0, last = 0, offset = 0;
  };
  void shape_rows();
  int32_t at(const std::vector<int32_t>& matrix, size_t i, size_t j) const;
  // Computes row i from the columns `above` of the previous row.
  void fill_row(size_t i, int32_t word, const int32_t* above, int32_t* row) const;
  void fill_after();

  std::span<const int32_t> hypothesis_, reference_;
  std::vector<Row> rows_;
  std::vector<int32_t> before_, after_;  // D, and the cost from (i,j) to the end
  bool after_known_ = false;
  int32_t distance_ = 0;
  std::vector<int32_t> scratch_[2];
};

// tercom's search for the edits of TER, with the limits of sacreBLEU: it moves phrases of the
// hypothesis one by one, each time the one that lowers the edit distance most, until none does.
class ShiftSearch {
 public:
  static constexpr int max_phrase = 10;
  static constexpr int max_distance = 50;      // between the positions of a phrase in both texts
  static constexpr int max_candidates = 1000;  // moves that are tried before the search ends

  // Moves plus the remaining edit distance. Words are numbers.
  int64_t edits(std::span<const int32_t> hypothesis, std::span<const int32_t> reference);

 private:
  // Moves the phrase [start, start + length) of the hypothesis before the word `target`.
  struct Move {
    int32_t gain = 0;
    int start = 0, length = 0, target = 0;
    bool better_than(const Move& other) const;
  };
  // Finds the effect of the cheapest edits on each word.
  void align();
  bool worth_a_try(int start, int reference_start, int length) const;
  void try_targets(int start, int reference_start, int length);
  bool find_best();  // false: max_candidates were tried
  Move try_move(int start, int length, int target);
  void rotate(int start, int length, int target, std::vector<int32_t>& words, int& begin) const;

  std::vector<int32_t> words_;  // of the hypothesis, as moved so far
  std::span<const int32_t> reference_;
  BandedEditDistance distance_;
  std::vector<Edit> edits_;
  std::vector<int> aligned_;  // by reference word; -1: before the first
  std::vector<int> hypothesis_errors_, reference_errors_;  // among the first k words
  int candidates_ = 0;
  bool found_ = false;
  Move best_;
  std::vector<int32_t> moved_;
};

}  // namespace tx
