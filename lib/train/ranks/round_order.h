// In which order the gradients of a backward pass become final, by rounds of the division of their
// block (lib/model/division.h): found by watching a pass, and the same for every pass of a
// training.
#pragma once
#include <vector>

#include "lib/model/parameters.h"

namespace tx {

class RoundOrder {
 public:
  explicit RoundOrder(const Parameters& parameters);

  // Watches one pass: saw_closure() behind each closure of Context::backward(), end() at its end.
  void saw_closure();
  void end();

  // Of later passes. Rounds with gradients that no contribution reaches are the last.
  const std::vector<int>& rounds() const { return rounds_; }
  // How many of the first of rounds() are final now, at least `so_far`.
  size_t final(size_t so_far) const;
  // Whether the pass that has ended was like the one watched: else final() may have been wrong.
  bool held() const;

 private:
  struct Watched {  // a table entry, with those joined to it
    size_t entry;
    ElementRange range;
    int written = 0;  // contributions in a whole pass
    int last = 0;     // closures up to the last of them
  };
  bool is_final(int round) const;

  const Parameters& parameters_;
  std::vector<Watched> entries_;
  std::vector<int> rounds_;
  std::vector<std::vector<size_t>> of_round_;  // places in entries_
  int closures_ = 0;
};

}  // namespace tx
