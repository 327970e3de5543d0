// Moves device memory between ranks: transport, and shards of flat blocks (lib/model/division.h).
#pragma once
#include <memory>

#include "kernels/backend.h"
#include "kernels/kernels.h"
#include "lib/model/division.h"
#include "lib/ranks/communicator.h"
#include "lib/tensor/device_array.h"

namespace tx {

// Selects this rank's GPU by its number among the ranks of its machine, for all backends made
// later. Numbers wrap around where the process sees fewer GPUs (a batch system may show one).
void choose_own_gpu(const Communicator& ranks);

// MPI for host memory, NCCL for GPU memory. `ranks` and `backend` outlive the result. Its first
// call, by all ranks, throws Error if a rank's NCCL differs from rank 0's or ranks share a GPU.
std::unique_ptr<Mover> make_mover(Backend& backend, Communicator& ranks);

// Columns of a flat block.
inline Matrix part_of(Matrix block, ElementRange range) {
  return block.columns(range.first, range.count);
}

// Collective: every rank makes the same calls.
class Shards {
 public:
  Shards(Backend& backend, Mover& mover, const Division& division, RankOf self);

  // All-gather: every rank's shards are copied to all others; `block` is whole.
  void gather(Matrix block);
  void gather(Matrix block, ElementRange needed);  // the rounds that overlap it
  // `own` holds this rank's shards one after another; `whole` is a whole block on rank 0.
  void collect(Matrix own, Matrix whole);  // gather to rank 0
  void spread(Matrix whole, Matrix own);   // scatter from rank 0
  // squares (1,B) f64: square_sums() of the shards of all ranks, in the order of the block.
  void gather_squares(Matrix block, Matrix squares);

 private:
  void list_squares();

  Backend& backend_;
  Mover& mover_;
  Division division_;
  RankOf self_;
  DeviceBytes padded_;  // shards of unequal length, padded to the longest
  DeviceBytes parts_;   // of gather_squares(): max_ sums of each rank
  DeviceBytes places_;  // indices into parts_, in the order of the block
  int64_t max_ = 0;
};

}  // namespace tx
