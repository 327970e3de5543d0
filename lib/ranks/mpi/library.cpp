// libtx-mpi.so: a Communicator over MPI. Calls begin without waiting and are asked for their end,
// with a sleep that grows between: MPI's own waiting would keep a core busy for as long as rank 0
// saves a checkpoint.
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <vector>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/ranks/communicator.h"

namespace tx {

namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(std::string(call) + ": " + text);
}

// The counts of MPI are of type int.
int count_of(size_t bytes) {
  TX_ASSERT(bytes <= size_t(std::numeric_limits<int>::max()));
  return int(bytes);
}

struct Shares {  // bytes of each rank, and where they begin
  std::vector<int> counts, starts;
  explicit Shares(std::span<const size_t> bytes) {
    size_t start = 0;
    for (const size_t n : bytes) {
      counts.push_back(count_of(n));
      starts.push_back(count_of(start));
      start += n;
    }
  }
};

class Mpi : public Communicator {
 public:
  Mpi() {
    check(MPI_Init(nullptr, nullptr), "MPI_Init");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
    MPI_Comm machine;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine),
          "MPI_Comm_split_type");
    MPI_Comm_rank(machine, &local_rank_);
    MPI_Comm_free(&machine);
  }
  // One that fails must not wait for those that go on: what started them ends them.
  ~Mpi() override {
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  std::string host() const override {
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length = 0;
    MPI_Get_processor_name(name, &length);
    return {name, size_t(length)};
  }

  void barrier() override {
    MPI_Request request;
    check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
    wait(request);
  }

  void broadcast(void* data, size_t bytes) override {
    constexpr size_t most = size_t(1) << 30;
    for (size_t at = 0; at < bytes; at += most) {
      MPI_Request request;
      check(MPI_Ibcast(static_cast<char*>(data) + at, count_of(std::min(most, bytes - at)),
                       MPI_BYTE, 0, MPI_COMM_WORLD, &request),
            "MPI_Ibcast");
      wait(request);
    }
  }

  void gather_all(const void* mine, size_t bytes, void* all) override {
    MPI_Request request;
    check(MPI_Iallgather(mine, count_of(bytes), MPI_BYTE, all, count_of(bytes), MPI_BYTE,
                         MPI_COMM_WORLD, &request),
          "MPI_Iallgather");
    wait(request);
  }

  void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                std::span<const size_t> to_bytes) override {
    TX_ASSERT(from_bytes.size() == size_t(size_) && to_bytes.size() == size_t(size_));
    const Shares out(from_bytes), in(to_bytes);
    MPI_Request request;
    check(MPI_Ialltoallv(from, out.counts.data(), out.starts.data(), MPI_BYTE, to, in.counts.data(),
                         in.starts.data(), MPI_BYTE, MPI_COMM_WORLD, &request),
          "MPI_Ialltoallv");
    wait(request);
  }

 private:
  static void wait(MPI_Request& request) {
    constexpr int eager = 200;        // calls before the first sleep
    constexpr long most = 1'000'000;  // nanoseconds
    long pause = 10'000;
    for (int round = 0;; ++round) {
      int done = 0;
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done) return;
      if (round < eager) continue;
      const timespec time{0, pause};
      ::nanosleep(&time, nullptr);
      pause = std::min(2 * pause, most);
    }
  }

  int rank_ = 0, size_ = 1, local_rank_ = 0;
};

std::string describe() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, size_t(length));
  return version.substr(0, version.find_first_of(",\n"));
}

std::unique_ptr<Communicator> join() { return std::make_unique<Mpi>(); }

}  // namespace

}  // namespace tx

const tx::CommunicatorLibrary* tx_mpi() {
  static const tx::CommunicatorLibrary library{TX_VERSION, tx::describe, tx::join};
  return &library;
}
