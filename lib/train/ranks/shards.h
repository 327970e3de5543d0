// Moving the shards of flat blocks between the ranks that hold them (lib/model/division.h). Every
// rank makes the same calls.
#pragma once
#include "kernels/mover.h"
#include "lib/model/division.h"
#include "lib/tensor/device_bytes.h"

namespace tx {

// Columns of a flat block.
inline Matrix part_of(Matrix block, ElementRange range) {
  return block.columns(range.first, range.count);
}

class Shards {
 public:
  Shards(Backend& backend, Mover& mover, const Division& division, RankOf self);

  // The shards of every rank arrive at all others; `block` is whole.
  void gather(Matrix block);
  // `own` holds this rank's shards one after another, `whole` is a whole block, which rank 0 alone
  // needs.
  void collect(Matrix own, Matrix whole);  // the shards of all ranks arrive at rank 0
  void spread(Matrix whole, Matrix own);   // and go back from there
  // squares (1,B) f64: sums of square_sums() over the shards of every rank, in the order of the
  // block.
  void gather_squares(Matrix block, Matrix squares);

 private:
  void list_squares();

  Backend& backend_;
  Mover& mover_;
  Division division_;
  RankOf self_;
  DeviceBytes room_;
  DeviceBytes parts_;   // of gather_squares(): `most_` sums of each rank
  DeviceBytes places_;  // of every sum of a block in parts_
  int64_t max_ = 0;
};

}  // namespace tx
