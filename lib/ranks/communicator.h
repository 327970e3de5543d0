// The ranks of a training and their communication. An installed library (MPI) moves bytes; tx does
// every addition, in an order that does not depend on the number of ranks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tx {

// A group of ranks. All of them make the same calls in the same order, and each call waits for the
// others. A call throws Error if the library fails or if the run must end because of another rank.
// Threads may call different communicators at the same time.
class Communicator {
 public:
  virtual ~Communicator() = default;  // collective, except during an exception
  virtual int rank() const = 0;       // 0 .. size() - 1
  virtual int size() const = 0;
  virtual int local_rank() const = 0;    // among the ranks of this machine, from 0
  virtual std::string host() const = 0;  // the name of this machine

  // Throws Error if the run must end because of another rank; does not wait.
  virtual void check_end() {}
  virtual void barrier() = 0;
  virtual void broadcast(void* data, size_t bytes) = 0;  // from rank 0
  // all (size() * bytes): the `bytes` of every rank. `mine` may be this rank's place in `all`.
  virtual void gather_all(const void* mine, size_t bytes, void* all) = 0;
  // All-to-all: `from` holds from_bytes[r] bytes for each rank r, in rank order; `to` receives
  // to_bytes[r] bytes from each rank r, in rank order.
  virtual void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                        std::span<const size_t> to_bytes) = 0;
  // A communicator of the ranks of the same `group`, in their order. This one must outlive it.
  virtual std::unique_ptr<Communicator> split(int group) = 0;
};

// What a rank sends about itself when it joins. The layout is the same in all versions of tx.
struct RankCard {
  char version[128] = "";  // of tx
  char host[64] = "";
  int64_t process = 0;         // process id
  uint64_t process_space = 0;  // its PID namespace: ids of one namespace can be compared
};

// All ranks of a training, and how they end together. A background thread of each rank sends a
// heartbeat every second and receives those of other ranks, also while the rank computes, reads or
// writes for long: so no rank waits for one that has died, and a single rank reports the reason.
class World : public Communicator {
 public:
  virtual const std::vector<RankCard>& cards() const = 0;  // of all ranks
  // Ends the run on all ranks, after this rank failed or rank 0 ended the run; returns the exit
  // status. Rank 0 prints its own reason before the call and prints the `why` of others, which they
  // print if it does not respond. If a rank does not respond, the run is aborted.
  virtual int end(int status, const std::string& why) = 0;
  // On rank 0: whether its last exception was caused by another rank.
  virtual bool failed_elsewhere() const = 0;

  // Rank 0 sends a number to all others without waiting; received_number() is the last, or 0.
  virtual void send_number(int number) = 0;
  virtual int received_number() const = 0;
};

// Joins the other ranks; null for a single process. Error: libtx-mpi.so is missing or another.
std::unique_ptr<World> join_ranks(const std::string& tool);

// The number of ranks that mpirun or srun started, and the rank of this process, from the
// environment; 1 and 0 for a single process.
int started_ranks();
int started_rank();

// Whether this is a rank other than 0, which prints nothing.
inline bool follows() { return started_ranks() > 1 && started_rank() > 0; }

std::string this_host();
// "rank 2 on HOST".
std::string name_of_rank(int rank, const std::string& host);
std::string describe_ranks();  // a line for --version

// What libtx-mpi.so exports, through the function tx_mpi().
struct CommunicatorLibrary {
  const char* version;        // of tx
  std::string (*describe)();  // of MPI
  std::unique_ptr<World> (*join)(const RankCard& mine, const std::string& tool);
};

}  // namespace tx

extern "C" {
const tx::CommunicatorLibrary* tx_mpi();
}
