// The mover between GPUs: NCCL.
#include <dlfcn.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <thread>

#include "kernels/cuda/runtime/library_places.h"
#include "kernels/cuda/runtime/profile.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {

namespace {

// The functions of NCCL, found by dlsym, so that nothing links with the library. They are declared
// here, as in NCCL's manual, so that its header is not needed either.

struct NcclId {  // ncclUniqueId: identifies a communicator to its ranks
  char bytes[mover_id_bytes];
};
using NcclCommunicator = struct ncclComm*;

struct NcclApi {
  static constexpr int success = 0, in_progress = 7;  // of ncclResult_t
  static constexpr int byte = 0;                      // ncclInt8 of ncclDataType_t

  int (*get_version)(int* version);
  const char* (*words)(int result);
  int (*make_id)(NcclId* id);
  int (*join)(NcclCommunicator* made, int ranks, NcclId id, int rank);
  int (*destroy)(NcclCommunicator);
  int (*abort)(NcclCommunicator);
  int (*state)(NcclCommunicator, int* result);  // ncclCommGetAsyncError
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void* from, size_t count, int type, int to_rank, NcclCommunicator,
              cudaStream_t);
  int (*receive)(void* to, size_t count, int type, int from_rank, NcclCommunicator, cudaStream_t);
  int (*gather_all)(const void* mine, void* all, size_t count, int type, NcclCommunicator,
                    cudaStream_t);
  int (*broadcast)(const void* from, void* to, size_t count, int type, int root, NcclCommunicator,
                   cudaStream_t);

  // Error with NCCL's text for `result` unless it is success; `doing` names the operation.
  void check(int result, const char* doing) const;
  std::string version() const;  // such as 2.28.9
};

template <class F>
void find(void* handle, F& f, const char* name) {
  f = reinterpret_cast<F>(dlsym(handle, name));
  if (!f) throw UsageError(std::string("NCCL has no ") + name + ": 2.7 or newer is needed");
}

NcclApi open() {
  std::string tried;
  void* handle = open_first({"TX_NCCL", {"libnccl.so.2"}, {"nccl"}}, tried);
  if (!handle)
    throw UsageError("ranks on GPUs need NCCL, which cannot be opened:" + tried +
                     "\ninstall libnccl2, or set TX_NCCL to the path of libnccl.so.2; or use "
                     "--device cpu, or start one rank");
  NcclApi api;
  find(handle, api.get_version, "ncclGetVersion");
  find(handle, api.words, "ncclGetErrorString");
  find(handle, api.make_id, "ncclGetUniqueId");
  find(handle, api.join, "ncclCommInitRank");
  find(handle, api.destroy, "ncclCommDestroy");
  find(handle, api.abort, "ncclCommAbort");
  find(handle, api.state, "ncclCommGetAsyncError");
  find(handle, api.group_start, "ncclGroupStart");
  find(handle, api.group_end, "ncclGroupEnd");
  find(handle, api.send, "ncclSend");
  find(handle, api.receive, "ncclRecv");
  find(handle, api.gather_all, "ncclAllGather");
  find(handle, api.broadcast, "ncclBroadcast");
  return api;
}

// Opened by the first call; UsageError, with the places that were tried, if it is not found.
const NcclApi& nccl() {
  static const NcclApi api = open();
  return api;
}

void NcclApi::check(int result, const char* doing) const {
  if (result != success)
    throw Error(std::string("NCCL failed while ") + doing + ": " + words(result));
}

// 2.18.9 is 21809, but up to 2.8 the major number was multiplied by 1000: 2.7.8 is 2708.
std::string NcclApi::version() const {
  int number = 0;
  check(get_version(&number), "reporting its version");
  const int major = number < 10000 ? 1000 : 10000;
  return std::to_string(number / major) + "." + std::to_string(number % major / 100) + "." +
         std::to_string(number % 100);
}

class NcclMover final : public Mover, public Peers {
 public:
  NcclMover(Cuda::State& state, const std::string& id, int rank, int ranks,
            const std::function<void()>& look)
      : s_(state), rank_(rank), ranks_(ranks), look_(look) {
    TX_ASSERT(id.size() == sizeof(NcclId));
    NcclId bytes;
    std::memcpy(&bytes, id.data(), sizeof bytes);
    api_.check(api_.join(&communicator_, ranks, bytes, rank), "joining the ranks");
    s_.peers.push_back(this);
  }

  // A communicator may be destroyed only when idle; after a failure it is aborted without waiting.
  ~NcclMover() override {
    if (communicator_ && std::uncaught_exceptions() == 0) {
      cudaStreamSynchronize(s_.stream);
      api_.destroy(communicator_);
    } else {
      give_up();
    }
    std::erase(s_.peers, this);
  }

  void broadcast(void* data, size_t bytes) override {
    if (!bytes) return;
    const Timed timed(s_, "ranks", {double(bytes), 0});
    begin();
    api_.check(api_.broadcast(data, data, bytes, NcclApi::byte, 0, communicator_, s_.stream),
               "sending");
  }

  void gather_all(const void* mine, size_t bytes, void* all) override {
    if (!bytes) return;
    const Timed timed(s_, "ranks", {double(bytes) * ranks_, 0});
    begin();
    api_.check(api_.gather_all(mine, all, bytes, NcclApi::byte, communicator_, s_.stream),
               "gathering");
  }

  void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                std::span<const size_t> to_bytes) override;

  // NCCL reports that a rank is gone; `look` may report which and why, perhaps a moment later.
  void check() override try {
    if (!communicator_) throw Error("NCCL: the communicator was aborted");
    look_();
    int result = NcclApi::success;
    api_.check(api_.state(communicator_, &result), "querying its state");
    if (result == NcclApi::success || result == NcclApi::in_progress) return;
    for (int i = 0; i < 20; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(100)))
      look_();
    api_.check(result, "moving bytes between ranks");
  } catch (...) {
    give_up();
    throw;
  }

  void give_up() override {
    if (communicator_) api_.abort(std::exchange(communicator_, nullptr));
  }

 private:
  void begin() {
    TX_ASSERT(!s_.capturing);
    if (!communicator_) throw Error("NCCL: the communicator was aborted");
  }

  Cuda::State& s_;
  const NcclApi& api_ = nccl();
  const int rank_, ranks_;
  const std::function<void()> look_;
  NcclCommunicator communicator_ = nullptr;
};

// Ends the group, also if a call in it throws.
class Group {
 public:
  explicit Group(const NcclApi& api) : api_(api) { api_.check(api_.group_start(), "grouping"); }
  ~Group() {
    if (!ended_) api_.group_end();
  }
  void end() {
    ended_ = true;
    api_.check(api_.group_end(), "exchanging");
  }

 private:
  const NcclApi& api_;
  bool ended_ = false;
};

// The bytes from this rank to itself are copied.
void NcclMover::exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                         std::span<const size_t> to_bytes) {
  TX_ASSERT(from_bytes.size() == size_t(ranks_) && to_bytes.size() == size_t(ranks_));
  TX_ASSERT(from_bytes[size_t(rank_)] == to_bytes[size_t(rank_)]);
  size_t bytes = 0;
  for (const auto& each : {from_bytes, to_bytes})
    for (const size_t n : each) bytes += n;
  const Timed timed(s_, "ranks", {double(bytes), 0});
  begin();
  const char* out = static_cast<const char*>(from);
  char* in = static_cast<char*>(to);
  Group group(api_);
  for (int r = 0; r < ranks_; ++r) {
    const size_t sent = from_bytes[size_t(r)], got = to_bytes[size_t(r)];
    if (r == rank_ && sent)
      tx::check(cudaMemcpyAsync(in, out, sent, cudaMemcpyDeviceToDevice, s_.stream), "copying");
    if (r != rank_ && sent)
      api_.check(api_.send(out, sent, NcclApi::byte, r, communicator_, s_.stream), "sending");
    if (r != rank_ && got)
      api_.check(api_.receive(in, got, NcclApi::byte, r, communicator_, s_.stream), "receiving");
    out += sent;
    in += got;
  }
  group.end();
}

}  // namespace

std::string Cuda::mover_library() const { return "NCCL " + nccl().version(); }

std::string Cuda::mover_id() const {
  NcclId id;
  nccl().check(nccl().make_id(&id), "creating an id");
  return {id.bytes, sizeof id.bytes};
}

std::unique_ptr<Mover> Cuda::make_mover(const std::string& id, int rank, int ranks,
                                        const std::function<void()>& look) {
  use_threads(1);
  return std::make_unique<NcclMover>(*state_, id, rank, ranks, look);
}

std::string Cuda::no_mover_reason() try {
  nccl();
  return "";
} catch (const UsageError& error) {
  return error.what();
}

std::string Cuda::describe_ranks() {
  return "NCCL: " + (no_mover_reason().empty() ? nccl().version() : "not found") + "\n";
}

}  // namespace tx
