#pragma once
#include <chrono>

namespace tx {

// Seconds of the steady clock, from any origin.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tx
