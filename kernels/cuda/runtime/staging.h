// Page-locked host memory through which small copies go, so that a copy waits neither for the host
// nor for earlier work of the stream. Two halves alternate: one is filled while the device may
// still read the other. Not for use while a graph is recorded.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

namespace tx {

class Staging {
 public:
  static constexpr size_t most = size_t(4) << 20;  // bytes of one copy

  Staging() = default;
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // `bytes` (at most `most`) that no copy reads or writes any more, for a copy that is put into
  // `stream` before the next call. Always the same stream.
  char* take(size_t bytes, cudaStream_t stream);

 private:
  struct Half {
    char* data = nullptr;
    cudaEvent_t left = nullptr;  // the last copy of this half
  };
  Half halves_[2];
  int now_ = 0;
  size_t used_ = 0;  // of the present half
};

}  // namespace tx
