// Memory that the processes of an emulated communicator share: the list of members, and a pipe for
// each ordered pair of them, through which messages are sent one after another.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

namespace emulator {

[[noreturn]] void nccl_fault(const std::string& what);  // reports a misuse by the caller and aborts

class Board {
 public:
  enum class Kind : int32_t { message, gather, broadcast };

  // Waits until all ranks have joined; null if some have not within a minute.
  static Board* join(const std::string& name, int ranks, int rank, int device);
  ~Board();

  int device(int rank) const { return members()[rank].device; }
  void leave() { members()[rank_].left = true; }
  bool gone(int rank) const;  // has left, or its process has ended

  // One end of a message to or from `peer`. Only move() accesses `data`.
  struct End {
    Board* board;
    bool sends;
    int peer;
    Kind kind;
    char* data;
    int64_t bytes;
    int64_t moved = -1;  // -1: its header has not been moved yet
    bool done = false;
    // Moves as many bytes as possible and returns whether it moved any. Sending is done when all
    // bytes have been received.
    bool move();
  };

 private:
  struct Member {
    std::atomic<int> pid, ranks;
    int device;
    std::atomic<bool> left;
  };
  struct Pipe {
    static constexpr int64_t size = 65536;
    std::atomic<int64_t> written, read;
    char bytes[size];
  };
  struct Header {
    Kind kind;
    int64_t bytes;
  };
  Board() = default;
  Member* members() const { return reinterpret_cast<Member*>(memory_ + 64); }
  std::atomic<int>& joined() const { return *reinterpret_cast<std::atomic<int>*>(memory_); }
  Pipe& pipe(int from, int to) const;
  bool put(Pipe& pipe, const char* data, int64_t bytes, int64_t& moved);
  bool get(Pipe& pipe, char* data, int64_t bytes, int64_t& moved);

  char* memory_ = nullptr;
  size_t size_ = 0;
  int ranks_ = 0, rank_ = 0;
};

}  // namespace emulator
