// Work in a fixed order on a thread beside the one that says how much of it may begin.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "lib/base/first_error.h"

namespace tx {

class SideThread {
 public:
  SideThread() = default;
  ~SideThread();  // as stop(), but what a call threw is lost
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  // Calls of work(0), work(1), ... may begin. Where no thread can be started none are made.
  void start(std::function<void(size_t)> work);
  void allow(size_t count);  // the first `count` of them, at least as many as before
  // Waits for the call that is being made; returns how many were made, or throws what one threw.
  size_t stop();

 private:
  void run();

  std::function<void(size_t)> work_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t allowed_ = 0, done_ = 0;
  bool stopped_ = false;
  FirstError failure_;
};

}  // namespace tx
