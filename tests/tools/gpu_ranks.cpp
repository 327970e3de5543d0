// One of several processes that communicate between their GPUs:
//   gpu_ranks WHAT RANK RANKS ID
// Rank RANK uses GPU number RANK. Rank 0 writes the communicator's id to the file ID, from which
// the others read it. WHAT is one of
//   all    checks every operation of Mover, between kernels, so that the stream order matters
//   sizes  rank 1 expects more bytes than rank 0 sends
//   gone   rank 1 exits while the others wait for it
//   record a Mover is used in work that is recorded as a graph
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "kernels/backend.h"
#include "lib/base/error.h"

namespace {

constexpr size_t max = 2'000'000;

// What rank `from` sends to rank `to`: nothing, or some multiple of 16 bytes.
size_t size_of_letter(int from, int to) { return size_t(from * 2 + to) % 4 * 70'000; }

class Rank {
 public:
  Rank(int rank, int ranks, const std::string& file) : rank_(rank), ranks_(ranks) {
    tx::choose_gpu(rank);
    backend_ = tx::make_backend(tx::Device::cuda, 1);
    from_ = static_cast<char*>(backend_->allocate(max));
    to_ = static_cast<char*>(backend_->allocate(max));
    mover_ = backend_->make_mover(id(file), rank, ranks, [] {});
  }
  ~Rank() {
    mover_.reset();
    backend_->release(from_);
    backend_->release(to_);
  }

  void all() {
    for (int round = 0; round < 3; ++round) {
      exchange();
      gather();
      broadcast();
    }
    std::printf("rank %d of %d\n", rank_, ranks_);
  }

  void sizes() {
    std::vector<size_t> out(size_t(ranks_), 0), in(size_t(ranks_), 0);
    if (rank_ == 0) out[1] = 64;
    if (rank_ == 1) in[0] = 128;
    mover_->exchange(from_, out, to_, in);
    backend_->wait();
  }

  void gone() {
    if (rank_ == 1) ::_exit(0);
    mover_->gather_all(from_, 64, to_);
    backend_->wait();
  }

  void record() {
    for (int i = 0; i < 2; ++i) backend_->replay(1, [&] { mover_->gather_all(from_, 64, to_); });
    backend_->wait();
  }

 private:
  std::string id(const std::string& file) {
    if (rank_ == 0) {
      std::ofstream(file + ".part") << backend_->mover_id();
      std::filesystem::rename(file + ".part", file);
    }
    while (!std::filesystem::exists(file))
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Fills `from_` and reads `to_` in stream order; nothing waits in between.
  void put(const std::string& text) {
    TX_ASSERT(text.size() <= max);
    backend_->zero(to_, max);
    backend_->upload(from_, text.data(), text.size());
  }
  void expect(const std::string& text) {
    backend_->copy(from_, to_, text.size());
    std::string got(text.size(), '?');
    backend_->download(got.data(), from_, got.size());
    TX_ASSERT(got == text);
  }

  void exchange() {
    std::string out, wanted;
    std::vector<size_t> out_bytes, in_bytes;
    for (int r = 0; r < ranks_; ++r) {
      out_bytes.push_back(size_of_letter(rank_, r));
      in_bytes.push_back(size_of_letter(r, rank_));
      out += std::string(out_bytes.back(), char('a' + rank_));
      wanted += std::string(in_bytes.back(), char('a' + r));
    }
    put(out);
    mover_->exchange(from_, out_bytes, to_, in_bytes);
    expect(wanted);
  }

  void gather() {
    constexpr size_t each = 100'000;
    std::string wanted;
    for (int r = 0; r < ranks_; ++r) wanted += std::string(each, char('a' + r));
    put(std::string(each, char('a' + rank_)));
    mover_->gather_all(from_, each, to_);
    expect(wanted);
    // In place: each rank's part is already at its position in `to_`.
    backend_->upload(to_ + size_t(rank_) * each, std::string(each, char('A' + rank_)).data(), each);
    for (char& c : wanted) c = char(c - 'a' + 'A');
    mover_->gather_all(to_ + size_t(rank_) * each, each, to_);
    expect(wanted);
  }

  void broadcast() {
    const std::string text(300'000, 'x');
    backend_->zero(to_, max);
    if (rank_ == 0) backend_->upload(to_, text.data(), text.size());
    mover_->broadcast(to_, text.size());
    expect(text);
  }

  int rank_, ranks_;
  tx::Backend backend_;
  char *from_, *to_;
  std::unique_ptr<tx::Mover> mover_;
};

}  // namespace

int main(int count, char** words) try {
  TX_ASSERT(count == 5);
  const std::string what = words[1];
  Rank rank(std::stoi(words[2]), std::stoi(words[3]), words[4]);
  if (what == "all") rank.all();
  if (what == "sizes") rank.sizes();
  if (what == "gone") rank.gone();
  if (what == "record") rank.record();
  return 0;
} catch (const tx::Error& e) {
  std::fprintf(stderr, "gpu_ranks: %s\n", e.what());
  return 1;
}
