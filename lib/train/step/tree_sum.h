// The sum of a step's batches, added along one fixed binary tree over the batch's number, so that
// any part of the tree can be added elsewhere without changing a bit:
//   sum(lo, hi) = sum(lo, lo + p) + sum(lo + p, hi), p the largest power of two below hi - lo
// A subtree's sum depends on its size alone, not on its position. Each term is a block of gradients
// and the sums of a step record. TreeSum adds the batches of one rank; RankSum adds over ranks.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "kernels/backend.h"
#include "kernels/kernels.h"
#include "lib/model/division.h"
#include "lib/tensor/device_array.h"
#include "lib/train/ranks/overlap.h"

namespace tx {

// Terms lo .. hi - 1 of a sum.
struct TermRange {
  int lo = 0, hi = 0;
  int size() const { return hi - lo; }
};
// The number of terms in the left part of sum(lo, lo + size); size at least 2.
int left_part(int size);
// The terms of rank `rank` of `ranks`, of a sum of `terms`.
TermRange share_of(int terms, int rank, int ranks);
// The largest subtrees of a sum of `terms` that lie within `share`, from left to right.
std::vector<TermRange> subtrees(int terms, TermRange share);

// Sets the sums of a record in the backend's memory to zero and leaves its other fields.
void clear_sums(Backend& backend, StepRecord* record);

class TreeSum {
 public:
  // `block` (1, a multiple of 64) and `record`, on `backend`, hold each term, then the sum.
  TreeSum(Backend& backend, Matrix block, StepRecord* record);
  ~TreeSum();
  TreeSum(const TreeSum&) = delete;
  TreeSum& operator=(const TreeSum&) = delete;

  // Blocks that a sum of `terms` needs besides its own: log2(terms), rounded up.
  static int levels(int terms);
  void reserve(int terms);  // allocates them; otherwise they are allocated on demand
  // One of these blocks, free until the next begin(). Padding is zero.
  Matrix spare();

  void begin(int terms);
  // Adds the term in block and record, zeroing the record's sums; the last leaves the sum there.
  void add_term();
  // Before the last term: the partial sums to add to it, in this order, for a caller that adds the
  // blocks itself instead of add_term(); add_last_record() then adds the records.
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

// The same sum over several ranks, each of which has a contiguous range of the terms. Subtrees
// within a range are added on its rank; for the rest of the tree every rank adds its shards of the
// block (lib/model/division.h). The result is bit-identical for any number of ranks.
class RankSum {
 public:
  // Maximum number of blocks on one of `ranks` ranks: its partial sums and the stack of TreeSum.
  static int blocks(int terms, int ranks);
  // Bytes of the buffers that one round is exchanged through, of elements of `each` bytes.
  static size_t exchange_bytes(int terms, const Division& division, size_t each);

  // As TreeSum.
  RankSum(Backend& backend, Mover& mover, const Division& division, RankOf self, Matrix block,
          StepRecord* record);
  void reserve(int terms);  // as TreeSum

  void begin(int terms);
  // The ranges that this rank adds, with TreeSum, one after the other; may be empty.
  const std::vector<TermRange>& mine() const { return mine_; }
  void keep();  // block and record hold the sum of the next range; zeroes the record's sums
  // Overlap: a background thread exchanges and adds rounds of the block as their gradients become
  // final during the backward pass of the last term of mine(). Call follow() once, begin_last()
  // before that pass and saw_closure() after each of its closures. `waiting`: of TreeSum, added by
  // that thread. All ranks follow the same order, those without terms too. CPU only.
  void follow(const RoundOrder* order) { order_ = order; }
  void begin_last(std::vector<Matrix> waiting);
  void saw_closure();
  // Collective. Afterwards this rank's shards of the block hold the sum of all terms (the rest of
  // the block is undefined), and the record holds the sums of all ranks.
  void finish();

 private:
  Matrix part(size_t number) const;
  void finish_record();
  void finish_round(Backend& backend, int round);
  const void* to_send(Backend& backend, int round);
  int round_at(size_t place) const { return order_ ? order_->rounds()[place] : int(place); }

  Backend& backend_;
  Mover& mover_;
  Division division_;
  RankOf self_;
  Matrix block_;
  StepRecord* record_;
  int terms_ = 0;
  std::vector<TermRange> mine_, all_;  // all_: of all ranks, together the whole sum
  std::vector<size_t> counts_;         // of all_, by rank
  std::deque<DeviceBytes> kept_;       // the sums of mine_ but the last, which stays in block_
  size_t next_ = 0;
  DeviceBytes records_;  // of all ranks, padded to the largest count
  DeviceBytes out_, in_;
  const RoundOrder* order_ = nullptr;  // of the rounds; null: by number
  size_t final_ = 0;                   // rounds of it whose gradients are final
  std::vector<Matrix> waiting_;
  std::unique_ptr<Backend> background_backend_;
  std::unique_ptr<BackgroundThread> background_;  // the last member: its thread reads the others
};

}  // namespace tx
