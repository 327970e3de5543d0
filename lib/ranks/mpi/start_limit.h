// MPI_Init waits for all ranks, and knows no end of it: where one of them never comes, this does.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "lib/base/first_error.h"

namespace tx::mpi {

class StartLimit {
 public:
  // From here on the process has two minutes, counted in seconds of its own, after which it says as
  // `tool` what it has waited for, and ends with status 1.
  explicit StartLimit(const std::string& tool);
  ~StartLimit();  // all have come
  StartLimit(const StartLimit&) = delete;
  StartLimit& operator=(const StartLimit&) = delete;

 private:
  std::atomic<bool> over_ = false;
  FirstError failure_;
  std::thread thread_;
};

// start_thread() of one that takes no signals: they are for the thread that trains.
std::thread start_without_signals(FirstError& failure, const std::function<void()>& body);

}  // namespace tx::mpi
