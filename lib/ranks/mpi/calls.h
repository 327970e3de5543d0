// Calling MPI. It is initialised with MPI_THREAD_SERIALIZED: any thread may call it, but only one
// at a time. So every call is made under one lock, and calls that wait for other ranks are
// non-blocking.
#pragma once
#include <mpi.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "lib/base/first_error.h"

namespace tx::mpi {

std::mutex& lock();
// Throws Error with MPI's message if `code`, the result of `call`, is not MPI_SUCCESS.
void check(int code, const char* call);

// MPI_Init waits for all ranks without a time limit. If this object still exists after two minutes,
// measured in sleeps of the process, it prints an error as `tool` and exits with status 1.
class StartLimit {
 public:
  explicit StartLimit(const std::string& tool);
  ~StartLimit();
  StartLimit(const StartLimit&) = delete;
  StartLimit& operator=(const StartLimit&) = delete;

 private:
  std::atomic<bool> over_ = false;
  FirstError failure_;
  std::thread thread_;
};

// start_thread() of a thread that blocks all signals: the main thread handles them.
std::thread start_without_signals(FirstError& failure, const std::function<void()>& body);

}  // namespace tx::mpi
