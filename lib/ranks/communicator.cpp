#include "lib/ranks/communicator.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/base/io.h"

namespace tx {

namespace {

// The number in the first variable that is set, or `otherwise`.
int number_of(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names)
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return otherwise;
}

constexpr const char* library_name = "libtx-mpi.so";

// Null if it is not installed.
const CommunicatorLibrary* find_library() {
  const std::string path = library_path(library_name);
  if (::access(path.c_str(), F_OK) != 0) return nullptr;
  // RTLD_GLOBAL: the plugins that MPI loads need its symbols.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) throw Error("cannot load " + path + ": " + ::dlerror());
  using Entry = const CommunicatorLibrary* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, "tx_mpi"));
  if (!entry) throw Error("cannot load " + path + ": " + ::dlerror());
  if (std::string(entry()->version) != TX_VERSION)
    throw Error(path + " belongs to tx " + entry()->version +
                ", not to " TX_VERSION ": reinstall tx");
  return entry();
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

// Open MPI's mpirun, then PMI (MPICH's mpirun, srun --mpi=pmi2), then srun --mpi=pmix. SLURM_NTASKS
// is also set in a batch script, whose processes are not ranks.
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
                " is missing: tx was built without MPI; install libopenmpi-dev and rebuild tx, or "
                "start it without mpirun");
  std::unique_ptr<World> all = library->join(own_card(), tool);
  if (all->size() != ranks)
    throw Error("started as one of " + std::to_string(ranks) + " ranks, but " + path + " finds " +
                std::to_string(all->size()) + ": it was built with another MPI (" +
                library->describe() + "); use the mpirun of that MPI");
  return all;
}

std::string describe_ranks() try {
  const CommunicatorLibrary* library = find_library();
  return "MPI: " + (library ? library->describe() : "not built in (needs mpicc)") + "\n";
} catch (const Error& error) {
  return std::string("MPI: ") + error.what() + "\n";
}

}  // namespace tx
