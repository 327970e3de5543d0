// The processes of one training, its ranks, and the moving of bytes between them. A library that
// was there before moves them (MPI); it never adds: what is added is added by us, in an order that
// does not depend on their number.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tx {

// Every rank makes the same calls in the same order; each call waits for the others. A call throws
// Error where the library refuses it, and where the run has to end because of another rank. Threads
// may make calls of different communicators at the same time.
class Communicator {
 public:
  virtual ~Communicator() = default;  // of all ranks at once; during an exception it waits for none
  virtual int rank() const = 0;       // 0 .. size() - 1
  virtual int size() const = 0;
  virtual int local_rank() const = 0;    // among the ranks of this machine, from 0
  virtual std::string host() const = 0;  // this machine's name

  // Throws Error where the run has to end because of another rank; waits for nothing.
  virtual void check_end() {}
  virtual void barrier() = 0;
  virtual void broadcast(void* data, size_t bytes) = 0;  // of rank 0 to all others
  // all (size() * bytes): the `bytes` of every rank in the order of ranks. `mine` may be this
  // rank's place in `all`.
  virtual void gather_all(const void* mine, size_t bytes, void* all) = 0;
  // Sends the rank r what stands in `from` behind the bytes for the ranks before it, from_bytes[r]
  // of them; what rank r sends to this one, to_bytes[r], arrives in `to` in the order of ranks.
  virtual void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                        std::span<const size_t> to_bytes) = 0;
  // The ranks that give the same number here, among themselves: in the order they have now, from 0.
  // Its calls may stand between those of this one, which must outlive it.
  virtual std::unique_ptr<Communicator> split(int group) = 0;
};

// How many ranks this process was started as one of, by mpirun or srun; 1: it stands alone.
int started_ranks();
// Which of them it is, as far as the environment tells; 0 where it stands alone.
int started_rank();

// Whether another rank speaks for this one.
inline bool follows() { return started_ranks() > 1 && started_rank() > 0; }

std::string describe_ranks();  // a line for --version

}  // namespace tx
