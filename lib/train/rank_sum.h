// The sum of TreeSum where its terms lie with several ranks: each has a contiguous range of them.
// What of the tree lies within a range is added there; of the rest every rank adds one part of the
// block for all, in the tree's order. So the bits do not depend on the number of ranks.
#pragma once
#include <vector>

#include "lib/ranks/communicator.h"
#include "lib/train/tree_sum.h"

namespace tx {

// The terms of rank `rank` of `ranks`, of a sum of `terms`.
TermRange share_of(int terms, int rank, int ranks);
// The largest subtrees of a sum of `terms` that lie within `share`, from left to right.
std::vector<TermRange> subtrees(int terms, TermRange share);

class RankSum {
 public:
  // Blocks that one of `ranks` ranks keeps at most, its partial sums and the stack of TreeSum.
  static int blocks(int terms, int ranks);

  // As TreeSum; block and record lie in the host's memory.
  RankSum(Communicator& ranks, Backend& backend, Matrix block, StepRecord* record);

  void begin(int terms);
  // The ranges that this rank adds, with TreeSum, one after the other; may be none.
  const std::vector<TermRange>& mine() const { return mine_; }
  void keep();    // block and record hold the sum of the next one; the record's sums become zero
  void finish();  // block and record hold the sum of all terms; waits for the other ranks

 private:
  void finish_record();
  template <class T>
  void finish_block();

  Communicator& ranks_;
  Backend& backend_;
  Matrix block_;
  StepRecord* record_;
  int terms_ = 0;
  std::vector<TermRange> mine_, all_;  // all_: of all ranks, which together are the whole
  std::vector<size_t> counts_;         // of all_, by rank
  std::vector<std::vector<char>> kept_;
  std::vector<StepRecord> kept_records_;
  size_t next_ = 0;
  std::vector<char> out_, in_;
};

}  // namespace tx
