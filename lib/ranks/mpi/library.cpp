// libtx-mpi.so: a Communicator over MPI. It uses non-blocking calls and polls for their completion
// with growing sleeps: MPI's own waiting would keep a core busy while rank 0 saves a checkpoint.
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

#include "build_info.h"
#include "lib/base/error.h"
#include "lib/ranks/communicator.h"
#include "lib/ranks/mpi/watch.h"

namespace tx {

namespace {

using mpi::check;

// MPI counts are ints: larger messages are split. Tests lower this limit.
size_t max_bytes() {
  static const size_t max = [] {
    const char* text = std::getenv("TX_MPI_MAX_BYTES");
    return text ? size_t(std::max(1, std::atoi(text))) : size_t(1) << 30;
  }();
  return max;
}
int count_of(size_t bytes) {
  TX_ASSERT(bytes <= max_bytes());
  return int(bytes);
}

using Requests = std::vector<MPI_Request>;

// Calls `begin`, which appends requests, and waits until they are complete.
template <class Begin>
void complete(mpi::Watch& watch, const Begin& begin) {
  constexpr int eager = 200;             // polls before the first sleep
  constexpr long max_sleep = 1'000'000;  // nanoseconds
  Requests requests;
  const auto done = [&](bool first) {
    const std::lock_guard guard(mpi::lock());
    if (first) begin(requests);
    int ended = 0;
    check(MPI_Testall(int(requests.size()), requests.data(), &ended, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    return ended != 0;
  };
  long pause = 10'000;
  for (int round = 0; !done(round == 0); ++round) {
    watch.check();
    if (round < eager) continue;
    const timespec time{0, pause};
    ::nanosleep(&time, nullptr);
    pause = std::min(2 * pause, max_sleep);
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

// A communicator of some or all ranks. Base is Communicator or World.
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

  void broadcast(void* data, size_t bytes) override { broadcast_from(0, data, bytes); }

  void gather_all(const void* mine, size_t bytes, void* all) override {
    const auto place_of = [&](int rank) { return static_cast<char*>(all) + size_t(rank) * bytes; };
    char* const place = place_of(rank_);
    if (bytes > max_bytes()) {  // the same on every rank
      if (mine != place) std::memcpy(place, mine, bytes);
      for (int root = 0; root < size_; ++root) broadcast_from(root, place_of(root), bytes);
      return;
    }
    run("MPI_Iallgather", [&](MPI_Request* request) {
      return MPI_Iallgather(mine == place ? MPI_IN_PLACE : mine, count_of(bytes), MPI_BYTE, all,
                            count_of(bytes), MPI_BYTE, ranks_, request);
    });
  }

  void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                std::span<const size_t> to_bytes) override {
    TX_ASSERT(from_bytes.size() == size_t(size_) && to_bytes.size() == size_t(size_));
    const size_t largest = std::max(*std::max_element(from_bytes.begin(), from_bytes.end()),
                                    *std::max_element(to_bytes.begin(), to_bytes.end()));
    // A rank knows only its own sizes, so ranks send and receive point to point.
    for (size_t done = 0; done < largest; done += max_bytes())
      complete(*watch_, [&](Requests& requests) {
        char* to_at = static_cast<char*>(to);
        for (int r = 0; r < size_; to_at += to_bytes[size_t(r++)])
          if (const int count = part_of(to_bytes[size_t(r)], done))
            check(MPI_Irecv(to_at + done, count, MPI_BYTE, r, 0, ranks_, &requests.emplace_back()),
                  "MPI_Irecv");
        const char* from_at = static_cast<const char*>(from);
        for (int r = 0; r < size_; from_at += from_bytes[size_t(r++)])
          if (const int count = part_of(from_bytes[size_t(r)], done))
            check(
                MPI_Isend(from_at + done, count, MPI_BYTE, r, 0, ranks_, &requests.emplace_back()),
                "MPI_Isend");
      });
  }

  std::unique_ptr<Communicator> split(int group) override;

 protected:
  // Called before the communicator is used; under lock() if other threads exist.
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
    complete(*watch_, [&](Requests& requests) { check(begin(&requests.emplace_back()), call); });
  }
  void broadcast_from(int root, void* data, size_t bytes) {
    for (size_t at = 0; at < bytes; at += max_bytes())
      run("MPI_Ibcast", [&](MPI_Request* request) {
        return MPI_Ibcast(static_cast<char*>(data) + at, part_of(bytes, at), MPI_BYTE, root, ranks_,
                          request);
      });
  }
  // The size of the next message when `done` of `bytes` have been sent.
  static int part_of(size_t bytes, size_t done) {
    return done < bytes ? count_of(std::min(max_bytes(), bytes - done)) : 0;
  }
  int rank_ = 0, size_ = 1, local_rank_ = 0;
  std::string host_;
};

class Subset : public Ranks<Communicator> {
 public:
  Subset(MPI_Comm ranks, const std::string& host, mpi::Watch& watch) {
    take(ranks, host);
    watch_ = &watch;
  }
};

// MPI_Comm_split blocks while the lock is held: the barrier keeps that wait short.
template <class Base>
std::unique_ptr<Communicator> Ranks<Base>::split(int group) {
  barrier();
  const std::lock_guard guard(mpi::lock());
  MPI_Comm subset;
  check(MPI_Comm_split(ranks_, group, rank_, &subset), "MPI_Comm_split");
  return std::make_unique<Subset>(subset, host_, *watch_);
}

class Mpi : public Ranks<World> {
 public:
  Mpi(const RankCard& mine, const std::string& tool) {
    int level = 0;
    {
      const mpi::StartLimit limit(tool);
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    }
    if (level < MPI_THREAD_SERIALIZED)
      throw Error("this MPI does not support calls from several threads");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    take(MPI_COMM_WORLD, mine.host);
    std::vector<RankCard> cards(static_cast<size_t>(size()));
    check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE,
                        MPI_COMM_WORLD),
          "MPI_Allgather");
    MPI_Comm for_watch;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &for_watch), "MPI_Comm_dup");
    own_watch_ = std::make_unique<mpi::Watch>(for_watch, std::move(cards), tool);
    watch_ = own_watch_.get();
  }
  // A failed run does not wait for the other ranks and skips MPI_Finalize.
  ~Mpi() override {
    if (ended_ || std::uncaught_exceptions() > 0) return;
    try {
      barrier();
    } catch (const Error&) {
      return;  // reported before
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
  void send_number(int number) override { watch_->send_number(number); }
  int received_number() const override { return watch_->received_number(); }

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
