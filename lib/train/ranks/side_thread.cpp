#include "lib/train/ranks/side_thread.h"

#include <utility>

#include "lib/base/error.h"
#include "lib/base/workers.h"

namespace tx {

SideThread::~SideThread() {
  try {
    stop();
  } catch (...) {  // another failure is on its way
  }
}

void SideThread::start(std::function<void(size_t)> work) {
  TX_ASSERT(!thread_.joinable());
  work_ = std::move(work);
  allowed_ = done_ = 0;
  stopped_ = false;
  try {
    thread_ = start_thread(failure_, [this] { run(); });
  } catch (const Error&) {  // whoever stops it does all
  }
}

void SideThread::allow(size_t count) {
  const std::lock_guard lock(mutex_);
  allowed_ = count;
  changed_.notify_one();
}

size_t SideThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  failure_.rethrow();
  return done_;
}

void SideThread::run() {
  for (;; ++done_) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || done_ < allowed_; });
    if (stopped_) return;
    lock.unlock();
    work_(done_);
  }
}

}  // namespace tx
