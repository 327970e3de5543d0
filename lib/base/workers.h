// Threads for text: work in parallel, results in order.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/first_error.h"
#include "lib/base/io.h"
#include "lib/base/log.h"

namespace tx {

// Processors this process may use: affinity mask cut by the cgroup CPU quota, at least 1.
int available_cpus();

// The CPU quota in whole processors, 0 where there is none. `root` is where the control groups are
// mounted (/sys/fs/cgroup), `membership` the text of /proc/self/cgroup; versions 1 and 2.
int quota_cpus(const std::string& root, const std::string& membership);

// How many threads of `wanted`, this one among them, can run at the same time: under a limit of
// processes (ulimit -u, a container's) or of memory (ulimit -v) some do not start. At least 1.
int startable_threads(int wanted);

// Lowers `threads` to what can be started beside this one, with a warning.
void limit_threads(int& threads, const Log& log);

// A thread that runs f, whose exception `failure` keeps; Error with the likely reason when it
// cannot be started.
std::thread start_thread(FirstError& failure, const std::function<void()>& f);

struct Block {
  std::vector<std::string> lines;
  int64_t first_line = 1;  // number of lines[0] in the input, from 1
};

// Reads blocks with `read` (false at the end), maps each with `work` on `threads` threads, and
// hands the results to `write` in the order read. Where fewer threads can be started, fewer do the
// work. read and write are called from one thread each, one call at a time. At most 2 x threads +
// 2 blocks are held. An exception stops everything and is rethrown here once the blocks before it
// are written, so what a failing input leaves on the output does not depend on the number of
// threads. A block without lines is dropped: a `read` that waits for a slow writer returns one now
// and then, so that a failure is noticed without waiting for a line.
void ordered_workers(int threads, const std::function<bool(Block&)>& read,
                     const std::function<void(Block&)>& work,
                     const std::function<void(const Block&)>& write);

// A `read` for the above: waits for a line, then takes what has arrived, up to `most_lines` lines
// and about a million bytes; after a fifth of a second without a line it returns an empty block.
bool read_block(LineReader& reader, Block& block, int64_t max_lines = 1024);

// Applies f(i) to 0..count-1 on `threads` threads in contiguous ranges. Where fewer threads can be
// started, this one does the rest.
void parallel_for(int threads, int64_t count, const std::function<void(int64_t)>& f);

}  // namespace tx
