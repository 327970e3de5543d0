// Threads for text: work in parallel, results in order.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tx {

// Processors this process may use: affinity mask cut by the cgroup CPU quota, at least 1.
int available_cpus();

// Reads blocks with `read` (false at the end), maps each with `work` on `threads` threads, and hands
// the results to `write` in the order read. read and write are called from one thread each, never
// two at a time. The first exception stops everything and is rethrown here.
struct Block {
  std::vector<std::string> lines;
  int64_t first_line = 1;  // number of lines[0] in the input, from 1
};
void ordered_workers(int threads, const std::function<bool(Block&)>& read,
                     const std::function<void(Block&)>& work,
                     const std::function<void(const Block&)>& write);

// Applies f(i) to 0..count-1 on `threads` threads in contiguous ranges.
void parallel_for(int threads, int64_t count, const std::function<void(int64_t)>& f);

}  // namespace tx
