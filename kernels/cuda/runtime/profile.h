// The profile of the CUDA backend (tx-train --profile): each call is timed by events, by group.
#pragma once
#include <string>
#include <vector>

#include "kernels/cuda/runtime/state.h"
#include "kernels/profile.h"

namespace tx {

class Profile {
 public:
  explicit Profile(cudaStream_t stream) : stream_(stream) {}
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  void begin(const char* group, Work work);
  void end();
  // The rates, measured on this GPU, and a line per group.
  std::string report(const Rates& rates);

 private:
  struct Span {
    const char* group;
    cudaEvent_t first, last;
  };
  cudaEvent_t event();
  void collect();
  cudaStream_t stream_;
  int depth_ = 0;
  GroupTimes groups_;
  std::vector<Span> open_;
  std::vector<cudaEvent_t> spare_;
};

// Times the calls during its lifetime; does nothing without a profile.
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
