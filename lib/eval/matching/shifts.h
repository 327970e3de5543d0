// tercom's search for the edits of TER, with the limits of sacreBLEU: it moves phrases of the
// hypothesis one by one, each time the one that lowers the edit distance most, until none does.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lib/eval/matching/edit_distance.h"

namespace tx {

class ShiftSearch {
 public:
  static constexpr int longest_phrase = 10;
  static constexpr int farthest = 50;  // words between the places of a phrase in both texts
  static constexpr int max_candidates =
      1000;  // moves tried; the search ends where they are used up

  // Moves plus the remaining edit distance. Words are numbers.
  int64_t edits(std::span<const int32_t> hypothesis, std::span<const int32_t> reference);

 private:
  // Moves the phrase [start, start + length) of the hypothesis in front of the word `target`.
  struct Move {
    int32_t gain = 0;
    int start = 0, length = 0, target = 0;
    bool better_than(const Move& other) const;
  };
  // Finds out what the cheapest edits do to each word.
  void align();
  bool worth_a_try(int start, int reference_start, int length) const;
  void try_targets(int start, int reference_start, int length);
  bool find_best();  // false: most_candidates are used up
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
