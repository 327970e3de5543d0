#include "tests/emulator/nccl/board.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace emulator {

void nccl_fault(const std::string& what) {
  std::fprintf(stderr, "emulated NCCL: %s\n", what.c_str());
  std::abort();
}

Board* Board::join(const std::string& name, int ranks, int rank, int device) {
  auto* board = new Board;
  board->ranks_ = ranks;
  board->rank_ = rank;
  board->size_ = 4096 + size_t(ranks) * size_t(ranks) * sizeof(Pipe);
  const int file = ::shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
  if (file < 0 || ::ftruncate(file, off_t(board->size_)) != 0) nccl_fault("no shared memory");
  board->memory_ = static_cast<char*>(
      ::mmap(nullptr, board->size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  ::close(file);
  if (board->memory_ == MAP_FAILED) nccl_fault("no shared memory");
  Member& own = board->members()[rank];
  if (own.pid.exchange(int(::getpid())) != 0) nccl_fault("two ranks have the same number");
  own.device = device;
  own.ranks = ranks;
  ++board->joined();
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (board->joined() < ranks) {
    if (std::chrono::steady_clock::now() > end) return nullptr;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (int r = 0; r < ranks; ++r)
    if (board->members()[r].ranks != ranks) nccl_fault("the ranks disagree on their number");
  if (rank == 0) ::shm_unlink(name.c_str());
  return board;
}

Board::~Board() { ::munmap(memory_, size_); }

bool Board::gone(int rank) const {
  const Member& m = members()[rank];
  return m.left || ::kill(m.pid, 0) != 0;
}

Board::Pipe& Board::pipe(int from, int to) const {
  return reinterpret_cast<Pipe*>(memory_ + 4096)[from * ranks_ + to];
}

bool Board::put(Pipe& pipe, const char* data, int64_t bytes, int64_t& moved) {
  const int64_t at = pipe.written % Pipe::size, room = Pipe::size - (pipe.written - pipe.read);
  const int64_t count = std::min({bytes - moved, room, Pipe::size - at});
  std::memcpy(pipe.bytes + at, data + moved, size_t(count));
  pipe.written += count;
  moved += count;
  return count > 0;
}

bool Board::get(Pipe& pipe, char* data, int64_t bytes, int64_t& moved) {
  const int64_t at = pipe.read % Pipe::size, there = pipe.written - pipe.read;
  const int64_t count = std::min({bytes - moved, there, Pipe::size - at});
  std::memcpy(data + moved, pipe.bytes + at, size_t(count));
  pipe.read += count;
  moved += count;
  return count > 0;
}

bool Board::End::move() {
  Pipe& p = sends ? board->pipe(board->rank_, peer) : board->pipe(peer, board->rank_);
  const int64_t before = moved;
  if (moved < 0) {  // the header is moved as a whole
    Header header{kind, bytes};
    int64_t part = 0;
    const int64_t needed = sizeof header;
    if (sends ? Pipe::size - (p.written - p.read) < needed : p.written - p.read < needed)
      return false;
    auto* text = reinterpret_cast<char*>(&header);
    while (part < needed)
      sends ? board->put(p, text, needed, part) : board->get(p, text, needed, part);
    if (header.kind != kind || header.bytes != bytes)
      nccl_fault("rank " + std::to_string(peer) + " sends " + std::to_string(header.bytes) +
                 " bytes as kind " + std::to_string(int(header.kind)) + " where rank " +
                 std::to_string(board->rank_) + " waits for " + std::to_string(bytes) +
                 " as kind " + std::to_string(int(kind)));
    moved = 0;
  }
  while (sends ? board->put(p, data, bytes, moved) : board->get(p, data, bytes, moved)) {
  }
  done = moved == bytes && (!sends || p.read == p.written);
  return done || moved != before;
}

}  // namespace emulator
