// The sum of a step's batches, added along one fixed binary tree over the batch's number, so that
// any part of the tree can be added elsewhere without changing a bit:
//   sum(lo, hi) = sum(lo, lo + p) + sum(lo + p, hi), p the largest power of two below hi - lo
// A subtree's sum depends on its size alone, never on where it stands. What is added is a block of
// gradients and the sums of a step record. Partial sums wait on a stack of one block a level.
#pragma once
#include <vector>

#include "kernels/backend.h"

namespace tx {

// Terms lo .. hi - 1 of a sum.
struct TermRange {
  int lo = 0, hi = 0;
  int size() const { return hi - lo; }
};
// The number of terms in the left part of sum(lo, lo + size); size at least 2.
int left_part(int size);

// Sets the sums of a record in the backend's memory to zero; the rest of it stays.
void clear_sums(Backend& backend, StepRecord* record);

class TreeSum {
 public:
  // `block` is (1, elements), elements a multiple of 64, on `backend`; `record` lies there, too.
  // Each term is found in them, and the sum is left in them.
  TreeSum(Backend& backend, Matrix block, StepRecord* record);
  ~TreeSum();
  TreeSum(const TreeSum&) = delete;
  TreeSum& operator=(const TreeSum&) = delete;

  // Blocks that a sum of `terms` keeps beside its own: log2(terms), rounded up.
  static int levels(int terms);
  void reserve(int terms);  // takes their memory; otherwise it is taken when it is needed
  // One of them, free until the next begin(); taken if there is none. Zero in what no term fills.
  Matrix spare();

  void begin(int terms);
  // Block and record hold the next term; after the last one they hold the sum. The sums of the
  // record are those of the next term from then on: they are zero.
  void add_term();
  // Before the last term: the sums that it is added to, in this order, in place of add_term(), by
  // who adds the blocks elsewhere; add_last_record() then adds the records.
  std::vector<Matrix> waiting() const;
  void add_last_record();

 private:
  struct Level {
    Matrix block;
    StepRecord* record;
  };
  void push(size_t level);
  void add(size_t level);

  Backend& backend_;
  Matrix block_;
  StepRecord* record_;
  std::vector<Level> levels_;
  int terms_ = 0, next_ = 0;
};

}  // namespace tx
