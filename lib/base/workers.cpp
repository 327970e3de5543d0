#include "lib/base/workers.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <system_error>

#include "lib/base/error.h"

namespace tx {

namespace {

// Shared by the loops of reading, working and writing. `lock` guards every field.
struct Pipeline {
  struct Job {
    int64_t index = 0;
    Block block;
    std::exception_ptr failure;  // of reading or of working on this block
  };
  std::mutex lock;
  std::condition_variable changed;
  std::deque<Job> to_work;
  std::map<int64_t, Job> to_write;
  int64_t blocks_read = 0, blocks_written = 0;
  bool read_ended = false, stop = false;
  int64_t max_held = 0;
  FirstError failed;  // an exception outside read, work and write: everything stops

  void halt() {
    const std::lock_guard guard(lock);
    stop = true;
    changed.notify_all();
  }
};

void read_loop(Pipeline& p, const std::function<bool(Block&)>& read) {
  bool more = true;
  while (more) {
    {
      std::unique_lock guard(p.lock);
      p.changed.wait(guard,
                     [&] { return p.stop || p.blocks_read - p.blocks_written < p.max_held; });
      if (p.stop) return;
    }
    Pipeline::Job job;
    try {
      more = read(job.block);
    } catch (...) {
      job.failure = std::current_exception();
      more = false;
    }
    const std::lock_guard guard(p.lock);
    job.index = p.blocks_read;
    p.read_ended = !more;
    if (job.failure) {
      ++p.blocks_read;
      p.to_write.emplace(job.index, std::move(job));
    } else if (more && !job.block.lines.empty()) {
      ++p.blocks_read;
      p.to_work.push_back(std::move(job));
    }
    p.changed.notify_all();
  }
}

void work_loop(Pipeline& p, const std::function<void(Block&)>& work) {
  for (;;) {
    std::unique_lock guard(p.lock);
    p.changed.wait(guard, [&] { return p.stop || p.read_ended || !p.to_work.empty(); });
    if (p.stop || p.to_work.empty()) return;
    Pipeline::Job job = std::move(p.to_work.front());
    p.to_work.pop_front();
    guard.unlock();
    try {
      work(job.block);
    } catch (...) {
      job.failure = std::current_exception();
    }
    guard.lock();
    p.to_write.emplace(job.index, std::move(job));
    p.changed.notify_all();
  }
}

void write_loop(Pipeline& p, const std::function<void(const Block&)>& write) {
  for (;;) {
    std::unique_lock guard(p.lock);
    const auto next_ready = [&] { return p.to_write.count(p.blocks_written) > 0; };
    const auto finished = [&] { return p.read_ended && p.blocks_written == p.blocks_read; };
    p.changed.wait(guard, [&] { return next_ready() || finished() || p.stop; });
    if (!next_ready()) return p.failed.rethrow();
    Pipeline::Job job = std::move(p.to_write.extract(p.blocks_written).mapped());
    guard.unlock();
    if (job.failure) std::rethrow_exception(job.failure);
    write(job.block);
    guard.lock();
    ++p.blocks_written;
    p.changed.notify_all();
  }
}

// Threads that are joined at the end of the scope, also on an exception.
struct ThreadGroup {
  FirstError& failure;
  std::vector<std::thread> threads = {};
  // False if not all of `count` threads could be started.
  template <class F>
  bool start(int64_t count, F&& f) {
    try {
      for (int64_t i = 0; i < count; ++i) threads.emplace_back([this, f] { failure.run(f); });
    } catch (const std::system_error&) {
      return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  ~ThreadGroup() {
    for (auto& thread : threads) thread.join();
  }
};

void run_alone(const std::function<bool(Block&)>& read, const std::function<void(Block&)>& work,
               const std::function<void(const Block&)>& write) {
  for (Block block; read(block); block = Block()) {
    if (block.lines.empty()) continue;
    work(block);
    write(block);
  }
}

using std::chrono::milliseconds;

// Threads of this process according to the system, 0 if unknown.
int known_threads() {
  struct stat task;
  return ::stat("/proc/self/task", &task) == 0 ? int(task.st_nlink) - 2 : 0;
}

}  // namespace

int startable_threads(int wanted) {
  const int before = known_threads();
  int started = 0;
  {
    std::mutex until_all_have_started;
    FirstError none;
    ThreadGroup group{none};
    const std::lock_guard hold(until_all_have_started);
    group.start(wanted - 1, [&] { const std::lock_guard wait(until_all_have_started); });
    started = int(group.threads.size());
  }
  // A joined thread still counts against the limit for a moment.
  for (int i = 0; i < 100 && known_threads() > before; ++i)
    std::this_thread::sleep_for(milliseconds(1));
  return 1 + started;
}

void limit_threads(int& threads, const Log& log) {
  const int wanted = threads;
  if (wanted > 1) threads = startable_threads(wanted);
  if (threads == wanted) return;
  log.warn("only " + std::to_string(threads) + " of " + std::to_string(wanted) +
           " threads can be started (see ulimit -u and -v); using " + std::to_string(threads));
}

std::thread start_thread(FirstError& failure, const std::function<void()>& f) {
  for (int left = 20;; --left) {  // other threads may be about to end
    try {
      return std::thread([&failure, f] { failure.run(f); });
    } catch (const std::system_error& error) {
      if (left > 0) {
        std::this_thread::sleep_for(milliseconds(5));
        continue;
      }
      throw Error("cannot start a thread: " + error.code().message() +
                  "; the limit of processes (ulimit -u) or memory (ulimit -v) is reached");
    }
  }
}

void ordered_workers(int threads, const std::function<bool(Block&)>& read,
                     const std::function<void(Block&)>& work,
                     const std::function<void(const Block&)>& write) {
  if (threads <= 1) return run_alone(read, work, write);
  Pipeline p;
  p.max_held = 2 * threads + 2;
  const auto until_failure = [&](const auto& loop) {
    if (!p.failed.run(loop)) p.halt();
  };
  {
    ThreadGroup group{p.failed};
    // The reader starts last: if it cannot, nothing has been read and this thread works alone.
    group.start(threads, [&] { until_failure([&] { work_loop(p, work); }); });
    if (!group.threads.empty() &&
        group.start(1, [&] { until_failure([&] { read_loop(p, read); }); })) {
      try {
        write_loop(p, write);
      } catch (...) {
        p.halt();
        throw;
      }
      return;
    }
    p.halt();
  }
  run_alone(read, work, write);
}

void parallel_for(int threads, int64_t count, const std::function<void(int64_t)>& f) {
  const int64_t ranges = std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, count));
  std::vector<std::exception_ptr> failures(static_cast<size_t>(ranges));
  const auto run = [&](int64_t range) {
    try {
      for (int64_t i = count * range / ranges; i < count * (range + 1) / ranges; ++i) f(i);
    } catch (...) {
      failures[size_t(range)] = std::current_exception();
    }
  };
  {
    FirstError none;  // run() keeps the exceptions, to throw that of the first range
    ThreadGroup group{none};
    int64_t begun = 1;
    while (begun < ranges && group.start(1, [&run, begun] { run(begun); })) ++begun;
    for (int64_t range = begun; range < ranges; ++range) run(range);
    run(0);
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace tx
