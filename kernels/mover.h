// Moving bytes of a backend's memory between the processes of one training, its ranks. A mover
// never adds: what is added is added by kernels, in an order that does not depend on the ranks.
#pragma once
#include <cstddef>
#include <span>

namespace tx {

constexpr size_t mover_id_bytes = 128;  // of mover_id() in kernels/interface.inc

// Pointers are the backend's memory. Calls go into the stream of the backend's kernels, in the
// order of the calls, and never into recorded work (replay()); every rank makes the same ones.
// Error where the library refuses a call, or a rank is found to be gone.
struct Mover {
  virtual ~Mover() = default;  // of all ranks at once; during an exception it waits for none
  virtual void broadcast(void* data, size_t bytes) = 0;  // of rank 0 to all others
  // all (ranks * bytes): the `bytes` of every rank in the order of ranks. `mine` may be this rank's
  // place in `all`.
  virtual void gather_all(const void* mine, size_t bytes, void* all) = 0;
  // Sends the rank r what stands in `from` behind the bytes for the ranks before it, from_bytes[r]
  // of them; what rank r sends to this one, to_bytes[r], arrives in `to` in the order of ranks.
  virtual void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                        std::span<const size_t> to_bytes) = 0;
};

}  // namespace tx
