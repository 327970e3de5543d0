// Carries the first exception of several threads to the thread that waits for them. Without it an
// exception that leaves a thread or an OpenMP region would terminate the process.
#pragma once
#include <exception>
#include <mutex>
#include <utility>

namespace tx {

class FirstError {
 public:
  // Calls f, from any thread, and keeps its exception if it is the first. Whether f returned.
  template <class F>
  bool run(F&& f) noexcept {
    try {
      f();
      return true;
    } catch (...) {
      const std::lock_guard guard(lock_);
      if (!error_) error_ = std::current_exception();
      return false;
    }
  }
  bool happened() const {
    const std::lock_guard guard(lock_);
    return bool(error_);
  }
  // Throws the exception, if there is one, and forgets it.
  void rethrow() {
    std::unique_lock guard(lock_);
    const std::exception_ptr error = std::exchange(error_, nullptr);
    guard.unlock();
    if (error) std::rethrow_exception(error);
  }

 private:
  mutable std::mutex lock_;
  std::exception_ptr error_;
};

}  // namespace tx
