// The profile of the CPU backend (tx-train --profile): each kernel call is timed.
#pragma once
#include <chrono>

#include "kernels/cpu.h"
#include "kernels/profile.h"

namespace tx {

struct Cpu::Profile : GroupTimes {
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

// Times its own lifetime; does nothing without a profile.
class Timed {
 public:
  Timed(GroupTimes* times, const char* group, Work work) : times_(times), group_(group) {
    if (!times_) return;
    times_->count(group, work);
    begin_ = std::chrono::steady_clock::now();
  }
  ~Timed() {
    if (!times_) return;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    times_->add(group_, spent.count());
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  GroupTimes* times_;
  const char* group_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace tx
