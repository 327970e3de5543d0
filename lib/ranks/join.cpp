#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/ranks/world.h"

namespace tx {

namespace {

// The number in the first of the variables that is set; `otherwise` where none is.
int number_of(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names)
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return otherwise;
}

constexpr const char* library_name = "libtx-mpi.so";

// Null where there is none.
const CommunicatorLibrary* find_library() {
  const std::string path = library_path(library_name);
  if (::access(path.c_str(), F_OK) != 0) return nullptr;
  // What MPI opens itself looks for MPI's names in the program.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) throw Error("cannot load " + path + ": " + ::dlerror());
  using Entry = const CommunicatorLibrary* (*)();
  const auto tell = reinterpret_cast<Entry>(::dlsym(library, "tx_mpi"));
  if (!tell) throw Error("cannot load " + path + ": " + ::dlerror());
  if (std::string(tell()->version) != TX_VERSION)
    throw Error(path + " is of tx " + tell()->version +
                ", not " TX_VERSION ": install tx whole, both come together");
  return tell();
}

RankCard own_card() {
  RankCard card;
  std::snprintf(card.version, sizeof card.version, "tx %s (commit %s)", TX_VERSION, TX_COMMIT);
  this_host().copy(card.host, sizeof card.host - 1);
  card.process = ::getpid();
  struct stat space = {};
  if (::stat("/proc/self/ns/pid", &space) == 0) card.process_space = space.st_ino;
  return card;
}

}  // namespace

// Open MPI's mpirun, then those that speak PMI (MPICH's mpirun, srun --mpi=pmi2), then srun
// --mpi=pmix. A batch script of Slurm has SLURM_NTASKS, too, but what it calls is no rank.
int started_ranks() {
  const bool pmix = std::getenv("PMIX_RANK") != nullptr;
  return number_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"},
                   pmix ? number_of({"SLURM_STEP_NUM_TASKS"}, 1) : 1);
}

int started_rank() { return number_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0); }

std::string this_host() {
  char name[sizeof RankCard::host] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string name_of_rank(int rank, const std::string& host) {
  return "rank " + std::to_string(rank) + " on " + host;
}

std::unique_ptr<World> join_ranks(const std::string& tool) {
  const int ranks = started_ranks();
  if (ranks <= 1) return nullptr;
  const CommunicatorLibrary* library = find_library();
  const std::string path = library_path(library_name);
  if (!library)
    throw Error("started as one of " + std::to_string(ranks) + " ranks, but " + path +
                " is missing: this tx was built without MPI; install libopenmpi-dev and build it "
                "again, or start it without mpirun");
  std::unique_ptr<World> all = library->join(own_card(), tool);
  if (all->size() != ranks)
    throw Error("started as one of " + std::to_string(ranks) + " ranks, but " + path + " finds " +
                std::to_string(all->size()) + ": it is of another MPI (" + library->describe() +
                "); use the mpirun that belongs to it");
  return all;
}

std::string describe_ranks() try {
  const CommunicatorLibrary* library = find_library();
  return "MPI: " + (library ? library->describe() : "not built in (needs mpicc)") + "\n";
} catch (const Error& error) {
  return std::string("MPI: ") + error.what() + "\n";
}

}  // namespace tx
