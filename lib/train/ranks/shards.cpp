#include "lib/train/ranks/shards.h"

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

// All-gather of short strings.
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

// NCCL would hang if ranks used different versions of it or the same GPU.
void check_gpus(Communicator& ranks, const std::string& library, const std::string& gpu) {
  const auto me = size_t(ranks.rank());
  const std::vector<std::string> libraries = gather(ranks, library), gpus = gather(ranks, gpu);
  if (libraries[me] != libraries[0])
    throw Error("found " + library + ", but rank 0 uses " + libraries[0]);
  for (size_t r = 0; r < me; ++r)
    if (gpus[r] == gpus[me])
      throw Error("the GPU of rank " + std::to_string(r) +
                  " is also this rank's: start at most one rank per GPU");
  ranks.barrier();
}

std::unique_ptr<Mover> join_gpus(Backend& backend, Communicator& ranks) {
  check_gpus(ranks, backend->mover_library(), backend->device_id());
  std::string id(mover_id_bytes, '\0');
  if (ranks.rank() == 0) id = backend->mover_id();
  ranks.broadcast(id.data(), id.size());
  return backend->make_mover(id, ranks.rank(), ranks.size(), [&ranks] { ranks.check_end(); });
}

// Connects to the other GPUs at the first call.
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

Shards::Shards(Backend& backend, Mover& mover, const Division& division, RankOf self)
    : backend_(backend),
      mover_(mover),
      division_(division),
      self_(self),
      padded_(backend),
      parts_(backend),
      places_(backend) {
  list_squares();
}

void Shards::gather(Matrix block) { gather(block, {0, block.cols}); }

// NCCL and MPI gather equal lengths: shards of unequal length are padded to the longest.
void Shards::gather(Matrix block, ElementRange needed) {
  const size_t each = size_of(block.dtype);
  for (int i = 0; i < division_.rounds(); ++i) {
    const ElementRange round = division_.round(i), mine = division_.shard(i, self_.rank);
    if (intersection(round, needed).count == 0) continue;
    if (division_.longest(i) * self_.ranks == round.count) {
      mover_.gather_all(part_of(block, mine).data, size_t(mine.count) * each,
                        part_of(block, round).data);
      continue;
    }
    const size_t longest = size_t(division_.longest(i)) * each;
    char* all = padded_.reserve(longest * size_t(self_.ranks));
    char* own = all + longest * size_t(self_.rank);
    backend_->copy(own, part_of(block, mine).data, size_t(mine.count) * each);
    mover_.gather_all(own, longest, all);
    for (int r = 0; r < self_.ranks; ++r) {
      const ElementRange shard = division_.shard(i, r);
      if (r != self_.rank)
        backend_->copy(part_of(block, shard).data, all + longest * size_t(r),
                       size_t(shard.count) * each);
    }
  }
}

namespace {

// Byte counts per rank: to or from rank 0 only.
std::vector<size_t> only_first(int ranks, int64_t elements, size_t each) {
  std::vector<size_t> bytes(size_t(ranks), 0);
  bytes[0] = size_t(elements) * each;
  return bytes;
}

// Byte counts per rank: every shard of a round on rank 0, none on the others.
std::vector<size_t> of_all(const Division& division, int round, RankOf self, size_t each) {
  std::vector<size_t> bytes(size_t(self.ranks), 0);
  for (int r = 0; r < self.ranks && self.rank == 0; ++r)
    bytes[size_t(r)] = size_t(division.shard(round, r).count) * each;
  return bytes;
}

}  // namespace

void Shards::collect(Matrix own, Matrix whole) {
  const size_t each = size_of(own.dtype);
  for (int i = 0; i < division_.rounds(); ++i) {
    const ElementRange mine{division_.own_first(i), division_.shard(i, self_.rank).count};
    const Matrix to = self_.rank == 0 ? part_of(whole, division_.round(i)) : Matrix{};
    mover_.exchange(part_of(own, mine).data, only_first(self_.ranks, mine.count, each), to.data,
                    of_all(division_, i, self_, each));
  }
}

void Shards::spread(Matrix whole, Matrix own) {
  const size_t each = size_of(own.dtype);
  for (int i = 0; i < division_.rounds(); ++i) {
    const ElementRange mine{division_.own_first(i), division_.shard(i, self_.rank).count};
    const Matrix from = self_.rank == 0 ? part_of(whole, division_.round(i)) : Matrix{};
    mover_.exchange(from.data, of_all(division_, i, self_, each), part_of(own, mine).data,
                    only_first(self_.ranks, mine.count, each));
  }
}

void Shards::list_squares() {
  for (int r = 0; r < self_.ranks; ++r) max_ = std::max(max_, norm_blocks(division_.held(r)));
  std::vector<int32_t> places;
  for (int i = 0; i < division_.rounds(); ++i)
    for (int r = 0; r < self_.ranks; ++r) {
      const int64_t first = r * max_ + division_.own_first(i) / norm_block;
      for (int64_t b = 0; b < norm_blocks(division_.shard(i, r).count); ++b)
        places.push_back(int32_t(first + b));
    }
  backend_->upload(places_.reserve(places.size() * 4), places.data(), places.size() * 4);
}

void Shards::gather_squares(Matrix block, Matrix squares) {
  const size_t bytes = size_t(max_) * sizeof(double);
  char* all = parts_.reserve(bytes * size_t(self_.ranks));
  char* own = all + bytes * size_t(self_.rank);
  const Matrix sums = matrix(own, DType::f64, 1, max_);
  for (int i = 0; i < division_.rounds(); ++i) {
    const ElementRange mine = division_.shard(i, self_.rank);
    if (mine.count == 0) continue;
    backend_->square_sums(part_of(block, mine), sums.columns(division_.own_first(i) / norm_block,
                                                             norm_blocks(mine.count)));
  }
  mover_.gather_all(own, bytes, all);
  // A double is moved as a row of two floats, since kernels move rows of f32.
  backend_->gather_rows(matrix(all, DType::f32, self_.ranks * max_, 2),
                        reinterpret_cast<const int32_t*>(places_.data()),
                        matrix(squares.data, DType::f32, squares.cols, 2));
}

}  // namespace tx
