#include "lib/train/ranks/rank_mover.h"

#include <array>
#include <string>
#include <vector>

#include "lib/base/error.h"

namespace tx {

namespace {

class HostMover : public Mover {
 public:
  explicit HostMover(Communicator& ranks) : ranks_(ranks) {}
  void broadcast(void* data, size_t bytes) override { ranks_.broadcast(data, bytes); }
  void gather_all(const void* mine, size_t bytes, void* all) override {
    ranks_.gather_all(mine, bytes, all);
  }
  void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                std::span<const size_t> to_bytes) override {
    ranks_.exchange(from, from_bytes, to, to_bytes);
  }

 private:
  Communicator& ranks_;
};

// A short text of every rank.
std::vector<std::string> gather(Communicator& ranks, const std::string& mine) {
  using Text = std::array<char, 128>;
  Text own{};
  mine.copy(own.data(), own.size() - 1);
  std::vector<Text> all(size_t(ranks.size()));
  ranks.gather_all(own.data(), own.size(), all.data());
  std::vector<std::string> texts;
  for (const Text& text : all) texts.emplace_back(text.data());
  return texts;
}

// What NCCL would find out by waiting without an end.
void check_gpus(Communicator& ranks, const std::string& library, const std::string& gpu) {
  const auto me = size_t(ranks.rank());
  const std::vector<std::string> libraries = gather(ranks, library), gpus = gather(ranks, gpu);
  if (libraries[me] != libraries[0])
    throw Error(library + " was found, but rank 0 has " + libraries[0]);
  for (size_t r = 0; r < me; ++r)
    if (gpus[r] == gpus[me])
      throw Error("the GPU of rank " + std::to_string(r) +
                  " is this one's, too: start as many ranks on a machine as it has GPUs");
  ranks.barrier();
}

std::unique_ptr<Mover> join_gpus(Backend& backend, Communicator& ranks) {
  check_gpus(ranks, backend->mover_library(), backend->device_id());
  std::string id(mover_id_bytes, '\0');
  if (ranks.rank() == 0) id = backend->mover_id();
  ranks.broadcast(id.data(), id.size());
  return backend->make_mover(id, ranks.rank(), ranks.size(), [&ranks] { ranks.check_end(); });
}

// The GPUs meet at the first call.
class GpuMover : public Mover {
 public:
  GpuMover(Backend& backend, Communicator& ranks) : backend_(backend), ranks_(ranks) {}
  void broadcast(void* data, size_t bytes) override { joined().broadcast(data, bytes); }
  void gather_all(const void* mine, size_t bytes, void* all) override {
    joined().gather_all(mine, bytes, all);
  }
  void exchange(const void* from, std::span<const size_t> from_bytes, void* to,
                std::span<const size_t> to_bytes) override {
    joined().exchange(from, from_bytes, to, to_bytes);
  }

 private:
  Mover& joined() {
    if (!mover_) mover_ = join_gpus(backend_, ranks_);
    return *mover_;
  }

  Backend& backend_;
  Communicator& ranks_;
  std::unique_ptr<Mover> mover_;
};

}  // namespace

void choose_own_gpu(const Communicator& ranks) { choose_gpu(ranks.local_rank()); }

std::unique_ptr<Mover> make_mover(Backend& backend, Communicator& ranks) {
  if (backend->has_own_memory()) return std::make_unique<GpuMover>(backend, ranks);
  return std::make_unique<HostMover>(ranks);
}

}  // namespace tx
