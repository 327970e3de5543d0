// An emulated NCCL, loaded by TX_NCCL: processes of one machine exchange bytes through shared
// memory. Like the real library it moves bytes when the stream reaches the call, waits there for
// peers without a time limit, and reports a peer that has gone by ncclCommGetAsyncError. It aborts
// if the caller does what the manual forbids: buffers outside device memory, messages of unequal
// sizes or kinds, an unbalanced group, a communicator that is destroyed while its work is queued or
// used after that. It also aborts on calls in a graph capture, which the real library allows but tx
// does not use. TX_EMULATED_NCCL_LOG=FILE writes a line per call to FILE.RANK.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "tests/emulator/cuda_runtime.h"
#include "tests/emulator/nccl/board.h"

using emulator::Board;
using emulator::nccl_fault;

struct ncclComm {
  std::unique_ptr<Board> board;
  int ranks = 0, rank = 0;
  cudaStream_t stream = nullptr;  // of all queued work
  std::atomic<int> waiting = 0, state = 0;
  std::atomic<bool> aborted = false;
  std::FILE* log = nullptr;
};

namespace {

enum Result { success = 0, system_error = 2, invalid_argument = 4, invalid_usage = 5, remote = 6 };
struct Id {
  char bytes[128];
};
using Communicator = std::shared_ptr<ncclComm>;

std::mutex mutex;
std::set<Communicator>& living() {
  static auto& all = *new std::set<Communicator>;
  return all;
}

Communicator find(ncclComm* c, const char* call) {
  const std::lock_guard lock(mutex);
  for (const Communicator& each : living())
    if (each.get() == c) return each;
  nccl_fault(std::string(call) + ": the communicator is unknown or destroyed");
}

// Operations that a group starts together.
struct Work {
  Communicator of;
  std::vector<Board::End> ends;
  std::vector<std::function<void()>> copies;  // from this rank to itself

  // Ends of one pipe take turns.
  bool behind_another(const Board::End& end) const {
    for (const Board::End& other : ends) {
      if (&other == &end) return false;
      if (!other.done && other.peer == end.peer && other.sends == end.sends) return true;
    }
    return false;
  }
  bool run() {
    if (of->aborted) return true;
    bool moved = false, done = true;
    for (Board::End& end : ends) {
      if (!end.done && !behind_another(end)) moved |= end.move();
      done = done && end.done;
    }
    if (done) {
      for (const auto& copy : copies) copy();
      --of->waiting;
      return true;
    }
    if (!moved)
      for (const Board::End& end : ends)
        if (!end.done && of->board->gone(end.peer)) of->state = remote;
    return false;
  }
};

struct Group {
  int depth = 0;
  std::vector<Work> work;  // one per communicator
};
thread_local Group group;

Work& work_of(const Communicator& c) {
  for (Work& work : group.work)
    if (work.of == c) return work;
  return group.work.emplace_back(Work{c, {}, {}});
}

int start_group() { return ++group.depth, success; }

int end_group() {
  if (group.depth == 0) nccl_fault("ncclGroupEnd without ncclGroupStart");
  if (--group.depth > 0) return success;
  for (Work& work : group.work) {
    const auto held = std::make_shared<Work>(std::move(work));
    ++held->of->waiting;
    emulator::enqueue_polled(held->of->stream, [held] { return held->run(); });
  }
  group.work.clear();
  return success;
}

// Checks the buffers of a call and calls add(work) for the open group, or for a group of its own.
template <class Add>
int call(const char* name, ncclComm* handle, cudaStream_t stream, int peer, size_t bytes,
         std::initializer_list<const void*> buffers, const Add& add) {
  const Communicator c = find(handle, name);
  if (c->state != success) return c->state;
  if (peer < 0 || peer >= c->ranks) return invalid_argument;
  for (const void* buffer : buffers)
    if (!emulator::is_device_memory(buffer, bytes))
      nccl_fault(std::string(name) + ": " + std::to_string(bytes) +
                 " bytes do not lie within an allocation of the device");
  cudaStreamCaptureStatus capture;
  cudaStreamIsCapturing(stream, &capture);
  if (capture != cudaStreamCaptureStatusNone) nccl_fault(std::string(name) + " while recording");
  if (c->waiting > 0 && c->stream != stream) nccl_fault(std::string(name) + ": two streams");
  c->stream = stream;
  if (c->log)
    std::fprintf(c->log, "%s %d %zu %s\n", name, peer, bytes, group.depth ? "grouped" : "alone");
  start_group();
  add(work_of(c), *c);
  return end_group();
}

void* writable(const void* p) { return const_cast<void*>(p); }

Board::End end_of(ncclComm& c, bool sends, int peer, Board::Kind kind, const void* data,
                  size_t bytes) {
  return {c.board.get(), sends, peer, kind, static_cast<char*>(writable(data)), int64_t(bytes)};
}

int forget(ncclComm* handle, const char* call, bool abort) {
  const Communicator c = find(handle, call);
  if (!abort && c->waiting > 0) nccl_fault("ncclCommDestroy: its work is still queued in a stream");
  if (!abort && group.depth > 0) nccl_fault("ncclCommDestroy within a group");
  c->aborted = true;
  if (abort) c->board->leave();
  if (c->log) std::fprintf(c->log, "%s\n", call), std::fclose(c->log), c->log = nullptr;
  const std::lock_guard lock(mutex);
  living().erase(c);
  return success;
}

size_t size_of_type(int type) {
  if (type != 0 && type != 1) nccl_fault("a type other than bytes");
  return 1;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) { return *version = 22809, success; }

const char* ncclGetErrorString(int result) {
  return result == success            ? "no error"
         : result == system_error     ? "unhandled system error"
         : result == invalid_argument ? "invalid argument"
         : result == invalid_usage    ? "invalid usage"
         : result == remote           ? "remote process exited or there was a network error"
                                      : "unknown result code";
}

int ncclGetUniqueId(Id* id) {
  static std::atomic<int> made = 0;
  std::memset(id->bytes, 0, sizeof id->bytes);
  std::snprintf(id->bytes, sizeof id->bytes, "/tx-emulated-nccl.%d.%d", int(::getpid()), made++);
  return success;
}

int ncclCommInitRank(ncclComm** made, int ranks, Id id, int rank) {
  if (rank < 0 || rank >= ranks) return invalid_argument;
  auto c = std::make_shared<ncclComm>();
  c->ranks = ranks;
  c->rank = rank;
  int device = 0;
  cudaGetDevice(&device);
  c->board.reset(Board::join(id.bytes, ranks, rank, device));
  if (!c->board) return system_error;
  for (int r = 0; r < ranks; ++r)
    if (r != rank && c->board->device(r) == device) return invalid_usage;  // "Duplicate GPU"
  if (const char* log = std::getenv("TX_EMULATED_NCCL_LOG"))
    c->log = std::fopen((std::string(log) + "." + std::to_string(rank)).c_str(), "w");
  *made = c.get();
  const std::lock_guard lock(mutex);
  living().insert(c);
  return success;
}

int ncclCommDestroy(ncclComm* c) { return forget(c, "ncclCommDestroy", false); }
int ncclCommAbort(ncclComm* c) { return forget(c, "ncclCommAbort", true); }
int ncclCommGetAsyncError(ncclComm* c, int* result) {
  *result = find(c, "ncclCommGetAsyncError")->state;
  return success;
}

int ncclGroupStart() { return start_group(); }
int ncclGroupEnd() { return end_group(); }

int ncclSend(const void* from, size_t count, int type, int peer, ncclComm* c, cudaStream_t stream) {
  const size_t bytes = count * size_of_type(type);
  return call("ncclSend", c, stream, peer, bytes, {from}, [&](Work& work, ncclComm& own) {
    work.ends.push_back(end_of(own, true, peer, Board::Kind::message, from, bytes));
  });
}

int ncclRecv(void* to, size_t count, int type, int peer, ncclComm* c, cudaStream_t stream) {
  const size_t bytes = count * size_of_type(type);
  return call("ncclRecv", c, stream, peer, bytes, {to}, [&](Work& work, ncclComm& own) {
    work.ends.push_back(end_of(own, false, peer, Board::Kind::message, to, bytes));
  });
}

int ncclAllGather(const void* mine, void* all, size_t count, int type, ncclComm* c,
                  cudaStream_t stream) {
  const size_t bytes = count * size_of_type(type);
  return call("ncclAllGather", c, stream, 0, bytes, {mine}, [&](Work& work, ncclComm& own) {
    if (!emulator::is_device_memory(all, size_t(own.ranks) * bytes))
      nccl_fault("ncclAllGather: the receive buffer is too small");
    char* to = static_cast<char*>(all);
    for (int r = 0; r < own.ranks; ++r) {
      char* place = to + size_t(r) * bytes;
      if (r == own.rank) {
        if (place != mine) work.copies.push_back([=] { std::memcpy(place, mine, bytes); });
        continue;
      }
      work.ends.push_back(end_of(own, true, r, Board::Kind::gather, mine, bytes));
      work.ends.push_back(end_of(own, false, r, Board::Kind::gather, place, bytes));
    }
  });
}

int ncclBroadcast(const void* from, void* to, size_t count, int type, int root, ncclComm* c,
                  cudaStream_t stream) {
  const size_t bytes = count * size_of_type(type);
  return call("ncclBroadcast", c, stream, root, bytes, {from, to}, [&](Work& work, ncclComm& own) {
    if (own.rank != root)
      return work.ends.push_back(end_of(own, false, root, Board::Kind::broadcast, to, bytes));
    for (int r = 0; r < own.ranks; ++r)
      if (r != root) work.ends.push_back(end_of(own, true, r, Board::Kind::broadcast, from, bytes));
    if (from != to) work.copies.push_back([=] { std::memcpy(to, from, bytes); });
  });
}
}
