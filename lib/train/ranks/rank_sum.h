// The sum of TreeSum where its terms lie with several ranks: each has a contiguous range of them.
// What of the tree lies within a range is added there; of the rest every rank adds its shards of
// the block (lib/model/division.h), in the tree's order. So the bits do not depend on the number of
// ranks.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "kernels/mover.h"
#include "lib/model/division.h"
#include "lib/tensor/device_bytes.h"
#include "lib/train/ranks/round_order.h"
#include "lib/train/ranks/side_thread.h"
#include "lib/train/step/tree_sum.h"

namespace tx {

// The terms of rank `rank` of `ranks`, of a sum of `terms`.
TermRange share_of(int terms, int rank, int ranks);
// The largest subtrees of a sum of `terms` that lie within `share`, from left to right.
std::vector<TermRange> subtrees(int terms, TermRange share);

class RankSum {
 public:
  // Blocks that one of `ranks` ranks keeps at most, its partial sums and the stack of TreeSum.
  static int blocks(int terms, int ranks);
  // Bytes that a round of it goes through at most, of elements of `each` bytes.
  static size_t passage(int terms, const Division& division, size_t each);

  // As TreeSum.
  RankSum(Backend& backend, Mover& mover, const Division& division, RankOf self, Matrix block,
          StepRecord* record);
  // Takes the memory of a sum of `terms`, which otherwise is taken when it is needed.
  void reserve(int terms);

  void begin(int terms);
  // The ranges that this rank adds, with TreeSum, one after the other; may be none.
  const std::vector<TermRange>& mine() const { return mine_; }
  void keep();  // block and record hold the sum of the next one; the record's sums become zero
  // Has rounds of the block finished by a thread, beside the backward pass of the last term of
  // mine(), as their gradients become final: follow() before it, saw_closure() behind each of its
  // closures. `waiting`: TreeSum's, which are added there. Every rank follows the same order, those
  // without terms too; in memory of the host alone. The bits are the same.
  void follow(const RoundOrder* order) { order_ = order; }
  void begin_last(std::vector<Matrix> waiting);
  void saw_closure();
  // This rank's shards of the block hold the sum of all terms, the rest of it is lost; the record
  // holds the sums of all. Waits for the other ranks.
  void finish();

 private:
  Matrix part(size_t number) const;
  void finish_record();
  void finish_round(Backend& backend, int round);
  const void* to_send(Backend& backend, int round);
  int round_at(size_t place) const;

  Backend& backend_;
  Mover& mover_;
  Division division_;
  RankOf self_;
  Matrix block_;
  StepRecord* record_;
  int terms_ = 0;
  std::vector<TermRange> mine_, all_;  // all_: of all ranks, which together are the whole
  std::vector<size_t> counts_;         // of all_, by rank
  std::deque<DeviceBytes> kept_;       // the sums of mine_ but for the last, which stays in block_
  size_t next_ = 0;
  DeviceBytes records_;  // of all ranks, for each as many as the one with most has
  DeviceBytes out_, in_;
  const RoundOrder* order_ = nullptr;  // of the rounds; null: by number
  size_t final_ = 0;                   // rounds of it whose gradients are final
  std::vector<Matrix> waiting_;
  std::unique_ptr<Backend> backend_beside_;  // of the thread
  std::unique_ptr<SideThread> beside_;       // the last member: its thread reads the others
};

}  // namespace tx
