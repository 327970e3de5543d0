#include "lib/base/workers.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

namespace tx {

namespace {

// What read -> work -> write hand to one another. Every field is guarded by `lock`.
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
  int64_t most_held = 0;
};

void read_loop(Pipeline& p, const std::function<bool(Block&)>& read) {
  bool more = true;
  while (more) {
    {
      std::unique_lock guard(p.lock);
      const auto room = [&] { return p.blocks_read - p.blocks_written < p.most_held; };
      p.changed.wait(guard, [&] { return p.stop || room(); });
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
    p.changed.wait(guard, [&] { return next_ready() || finished(); });
    if (!next_ready()) return;
    Pipeline::Job job = std::move(p.to_write.extract(p.blocks_written).mapped());
    guard.unlock();
    if (job.failure) std::rethrow_exception(job.failure);
    write(job.block);
    guard.lock();
    ++p.blocks_written;
    p.changed.notify_all();
  }
}

// Joins its threads whatever happens.
struct Team {
  std::vector<std::thread> threads;
  ~Team() {
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

}  // namespace

void ordered_workers(int threads, const std::function<bool(Block&)>& read,
                     const std::function<void(Block&)>& work,
                     const std::function<void(const Block&)>& write) {
  if (threads <= 1) return run_alone(read, work, write);
  Pipeline p;
  p.most_held = 2 * threads + 2;
  Team team;
  const auto stop_all = [&] {
    const std::lock_guard guard(p.lock);
    p.stop = true;
    p.changed.notify_all();
  };
  try {
    team.threads.emplace_back(read_loop, std::ref(p), std::cref(read));
    for (int i = 0; i < threads; ++i) {
      team.threads.emplace_back(work_loop, std::ref(p), std::cref(work));
    }
    write_loop(p, write);
  } catch (...) {
    stop_all();
    throw;
  }
}

bool read_block(LineReader& reader, Block& block, int64_t most_lines) {
  constexpr size_t most_bytes = 1 << 20;
  block.lines.clear();
  if (!reader.ready(200)) return true;
  block.first_line = reader.line_number() + 1;
  size_t bytes = 0;
  std::string line;
  do {
    if (!reader.next(line)) return !block.lines.empty();
    bytes += line.size();
    block.lines.push_back(std::move(line));
  } while (int64_t(block.lines.size()) < most_lines && bytes < most_bytes && reader.ready());
  return true;
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
    Team team;
    for (int64_t range = 1; range < ranges; ++range) team.threads.emplace_back(run, range);
    run(0);
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace tx
