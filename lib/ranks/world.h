// All ranks of a training, and how they end together. A thread of each rank sends a beat every
// second and hears those of the others, also while the rank computes, reads or writes for long: so
// nothing waits for a rank that is gone, and one rank alone says what has happened.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "lib/ranks/communicator.h"

namespace tx {

// What a rank tells of itself when it joins. The layout stays from version to version.
struct RankCard {
  char version[128] = "";  // of tx
  char host[64] = "";
  int64_t process = 0;         // its number there
  uint64_t process_space = 0;  // what gave that number: numbers of one space can be compared
};

class World : public Communicator {
 public:
  virtual const std::vector<RankCard>& cards() const = 0;  // of all ranks
  // Ends the run of all ranks because this one cannot go on, or was told to end; returns the status
  // to exit with. Rank 0 has said why before. Another rank has rank 0 say `why`; it says it itself
  // where rank 0 does not answer. Does not return where a rank does not answer: the run is aborted.
  virtual int end(int status, const std::string& why) = 0;
  // Of rank 0: whether its last exception tells of another rank.
  virtual bool failed_elsewhere() const = 0;

  // A number that rank 0 tells the others while they compute; 0 before the first.
  virtual void tell(int number) = 0;
  virtual int told() const = 0;
};

// Joins the other ranks; null where the process stands alone. What a rank has to say on its own, it
// says as `tool`. Throws Error where libtx-mpi.so is missing, of another version, or of another MPI
// than the one that started this process.
std::unique_ptr<World> join_ranks(const std::string& tool);

std::string this_host();
// "rank 2 on HOST".
std::string name_of_rank(int rank, const std::string& host);

// What libtx-mpi.so says about itself through the one function that it exports, tx_mpi().
struct CommunicatorLibrary {
  const char* version;        // of tx
  std::string (*describe)();  // of MPI
  std::unique_ptr<World> (*join)(const RankCard& mine, const std::string& tool);
};

}  // namespace tx

extern "C" {
const tx::CommunicatorLibrary* tx_mpi();
}
