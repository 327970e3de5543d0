// libtx-mpi.so: a Communicator over MPI. Calls begin without waiting and are asked for their end,
// with a sleep that grows between: MPI's own waiting would keep a core busy for as long as rank 0
// saves a checkpoint.
#include <time.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <vector>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/ranks/mpi/start_limit.h"
#include "lib/ranks/mpi/watch.h"
#include "lib/ranks/world.h"

namespace tx {

namespace mpi {

std::mutex& lock() {
  static std::mutex only;
  return only;
}

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(std::string(call) + ": " + text);
}

}  // namespace mpi

namespace {

using mpi::check;

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

// Calls `begin` with a request, and waits until what it began has ended.
template <class Begin>
void complete(mpi::Watch& watch, const char* call, const Begin& begin) {
  constexpr int eager = 200;        // questions before the first sleep
  constexpr long most = 1'000'000;  // nanoseconds
  MPI_Request request;
  const auto done = [&](bool first) {
    const std::lock_guard guard(mpi::lock());
    if (first) check(begin(&request), call);
    int ended = 0;
    check(MPI_Test(&request, &ended, MPI_STATUS_IGNORE), "MPI_Test");
    return ended != 0;
  };
  long pause = 10'000;
  for (int round = 0; !done(round == 0); ++round) {
    watch.check();
    if (round < eager) continue;
    const timespec time{0, pause};
    ::nanosleep(&time, nullptr);
    pause = std::min(2 * pause, most);
  }
}

int local_rank_of(MPI_Comm all, int rank) {
  MPI_Comm machine;
  check(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine),
        "MPI_Comm_split_type");
  int local = 0;
  MPI_Comm_rank(machine, &local);
  MPI_Comm_free(&machine);
  return local;
}

// Some or all of the ranks. Base is Communicator or World.
template <class Base>
class Ranks : public Base {
 public:
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  std::string host() const override { return host_; }

  void check_end() override { watch_->check(); }
  void barrier() override {
    run("MPI_Ibarrier", [&](MPI_Request* request) { return MPI_Ibarrier(ranks_, request); });
  }

  void broadcast(void* data, size_t bytes) override {
    constexpr size_t most = size_t(1) << 30;
    for (size_t at = 0; at < bytes; at += most)
      run("MPI_Ibcast", [&](MPI_Request* request) {
        return MPI_Ibcast(static_cast<char*>(data) + at, count_of(std::min(most, bytes - at)),
                          MPI_BYTE, 0, ranks_, request);
      });
  }

  void gather_all(const void* mine, size_t bytes, void* all) override {
    const void* const place = static_cast<char*>(all) + size_t(rank_) * bytes;
    run("MPI_Iallgather", [&](MPI_Request* request) {
      return MPI_Iallgather(mine == place ? MPI_IN_PLACE : mine, count_of(bytes), MPI_BYTE, all,
                            count_of(bytes), MPI_BYTE, ranks_, request);
    });
  }

  void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                std::span<const size_t> to_bytes) override {
    TX_ASSERT(from_bytes.size() == size_t(size_) && to_bytes.size() == size_t(size_));
    const Shares out(from_bytes), in(to_bytes);
    run("MPI_Ialltoallv", [&](MPI_Request* request) {
      return MPI_Ialltoallv(from, out.counts.data(), out.starts.data(), MPI_BYTE, to,
                            in.counts.data(), in.starts.data(), MPI_BYTE, ranks_, request);
    });
  }

  std::unique_ptr<Communicator> split(int group) override;

 protected:
  // Of communicators that wait for nobody any more. Under lock() where there are threads already.
  void take(MPI_Comm ranks, const std::string& host) {
    ranks_ = ranks;
    host_ = host;
    check(MPI_Comm_rank(ranks, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(ranks, &size_), "MPI_Comm_size");
    local_rank_ = local_rank_of(ranks, rank_);
  }

  MPI_Comm ranks_ = MPI_COMM_NULL;
  mpi::Watch* watch_ = nullptr;

 private:
  template <class Begin>
  void run(const char* call, const Begin& begin) {
    complete(*watch_, call, begin);
  }
  int rank_ = 0, size_ = 1, local_rank_ = 0;
  std::string host_;
};

class Part : public Ranks<Communicator> {
 public:
  Part(MPI_Comm ranks, const std::string& host, mpi::Watch& watch) {
    take(ranks, host);
    watch_ = &watch;
  }
};

// MPI has no way of splitting without waiting: the others must be there.
template <class Base>
std::unique_ptr<Communicator> Ranks<Base>::split(int group) {
  barrier();
  const std::lock_guard guard(mpi::lock());
  MPI_Comm part;
  check(MPI_Comm_split(ranks_, group, rank_, &part), "MPI_Comm_split");
  return std::make_unique<Part>(part, host_, *watch_);
}

class Mpi : public Ranks<World> {
 public:
  Mpi(const RankCard& mine, const std::string& tool) {
    int level = 0;
    {
      const mpi::StartLimit limit(tool);
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    }
    if (level < MPI_THREAD_SERIALIZED) throw Error("this MPI takes calls of one thread alone");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    take(MPI_COMM_WORLD, mine.host);
    std::vector<RankCard> cards(static_cast<size_t>(size()));
    check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE,
                        MPI_COMM_WORLD),
          "MPI_Allgather");
    MPI_Comm of_watch;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &of_watch), "MPI_Comm_dup");
    own_watch_ = std::make_unique<mpi::Watch>(of_watch, std::move(cards), tool);
    watch_ = own_watch_.get();
  }
  // A run that fails waits for nobody: MPI is left as it is.
  ~Mpi() override {
    if (ended_ || std::uncaught_exceptions() > 0) return;
    try {
      barrier();
    } catch (const Error&) {
      return;  // what it tells was told before
    }
    own_watch_.reset();
    MPI_Finalize();
  }

  const std::vector<RankCard>& cards() const override { return watch_->cards(); }
  int end(int status, const std::string& why) override {
    ended_ = true;
    return watch_->end(status, why);
  }
  bool failed_elsewhere() const override { return watch_->failed_elsewhere(); }
  void tell(int number) override { watch_->tell(number); }
  int told() const override { return watch_->told(); }

 private:
  std::unique_ptr<mpi::Watch> own_watch_;
  bool ended_ = false;
};

std::string describe() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, size_t(length));
  return version.substr(0, version.find_first_of(",\n"));
}

std::unique_ptr<World> join(const RankCard& mine, const std::string& tool) {
  return std::make_unique<Mpi>(mine, tool);
}

}  // namespace

}  // namespace tx

const tx::CommunicatorLibrary* tx_mpi() {
  static const tx::CommunicatorLibrary library{TX_VERSION, tx::describe, tx::join};
  return &library;
}
