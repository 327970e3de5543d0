// Moving bytes between GPUs by NCCL.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>

#include "kernels/cuda/ranks/nccl_api.h"
#include "kernels/cuda/runtime/profile.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {

namespace {

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

  // What is destroyed must have nothing left to do; one that fails waits for nobody.
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

  // NCCL knows that a rank is gone, `look` may know which and why, perhaps a moment later.
  void check() override try {
    if (!communicator_) throw Error("NCCL: the ranks were given up");
    look_();
    int result = NcclApi::success;
    api_.check(api_.state(communicator_, &result), "asking for its state");
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
    if (!communicator_) throw Error("NCCL: the ranks were given up");
  }

  Cuda::State& s_;
  const NcclApi& api_ = nccl();
  const int rank_, ranks_;
  const std::function<void()> look_;
  NcclCommunicator communicator_ = nullptr;
};

// Ends the group, also where a call in it throws.
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

// What goes to this rank itself is copied.
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
  nccl().check(nccl().make_id(&id), "making an id");
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
