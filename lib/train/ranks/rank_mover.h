// What moves the memory of a training's backend between its ranks: the communicator where it is the
// host's, NCCL where it is that of GPUs.
#pragma once
#include <memory>

#include "kernels/backend.h"
#include "kernels/mover.h"
#include "lib/ranks/communicator.h"

namespace tx {

// Backends of GPUs that are made from here on in this process are of the GPU that has the number of
// this rank among those of its machine. Where the process sees fewer, as when a batch system gives
// each its own, the numbers begin anew.
void choose_own_gpu(const Communicator& ranks);

// `ranks` and `backend` outlive what is returned. The first call of it, by all ranks, throws Error
// on one that has another NCCL than rank 0 or the GPU of a rank before it.
std::unique_ptr<Mover> make_mover(Backend& backend, Communicator& ranks);

}  // namespace tx
