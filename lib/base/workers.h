// Threads: blocks of text with ordered results, parallel loops, how many threads can be started.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/first_error.h"
#include "lib/base/log.h"

namespace tx {

// How many of `wanted` threads, including this one, can run at the same time: a limit of processes
// (ulimit -u, a container's) or memory (ulimit -v) may keep some from starting. At least 1.
int startable_threads(int wanted);

// Lowers `threads` to startable_threads(), with a warning.
void limit_threads(int& threads, const Log& log);

// A thread that runs f; `failure` keeps its exception. Error if it cannot be started.
std::thread start_thread(FirstError& failure, const std::function<void()>& f);

struct Block {
  std::vector<std::string> lines;
  int64_t first_line = 1;  // number of lines[0] in the input, from 1
};

// Reads blocks with `read` (false at the end), processes each with `work` on up to `threads`
// threads, and passes the results to `write` in the order of reading. read and write are each
// called from one thread. At most 2 x threads + 2 blocks are in memory. An exception stops
// everything and is rethrown here after the blocks before it are written, whatever the number of
// threads. A block without lines is dropped: a `read` that waits for a slow writer returns one from
// time to time, so that a failure is noticed.
void ordered_workers(int threads, const std::function<bool(Block&)>& read,
                     const std::function<void(Block&)>& work,
                     const std::function<void(const Block&)>& write);

// Calls f(i) for i in 0..count-1 on up to `threads` threads in contiguous ranges.
void parallel_for(int threads, int64_t count, const std::function<void(int64_t)>& f);

}  // namespace tx
