// Where the GPU's time goes (tx-train --profile): each call of the backend is timed by events and
// counted under the name of its group, beside the bytes that it moves and the products that it
// computes.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/runtime/roofline.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {

class Profile {
 public:
  explicit Profile(cudaStream_t stream) : stream_(stream) {}
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  void begin(const char* group, Work work);
  void end();
  // One line per group: calls, milliseconds, the roofline's least time, and that over the time
  // taken. Rates in bytes and FLOPs per second, measured on this GPU.
  std::string report(double copy_rate, double bf16_rate, double f32_rate);

 private:
  struct Group {
    std::map<Work, int64_t> calls;
    double milliseconds = 0;
  };
  struct Span {
    const char* group;
    cudaEvent_t first, last;
  };
  cudaEvent_t event();
  void collect();
  cudaStream_t stream_;
  int depth_ = 0;
  std::map<std::string, Group> groups_;
  std::vector<Span> open_;
  std::vector<cudaEvent_t> spare_;
};

// Times the calls made while it lives; does nothing when there is no profile.
class Timed {
 public:
  Timed(Cuda::State& s, const char* group, Work work) : profile_(s.profile.get()) {
    if (profile_) profile_->begin(group, work);
  }
  ~Timed() {
    if (profile_) profile_->end();
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Profile* profile_;
};

}  // namespace tx
