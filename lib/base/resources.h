// Processors and memory that this process may use (affinity, control groups, ulimit). Specific to
// Linux, as are O_TMPFILE in writer.cpp and the features of processors in kernels/cpu.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tx {

// Processors of the affinity mask, at most the CPU quota of the control groups, at least 1.
int available_cpus();

// Bytes of memory that this process could still take, by the machine and its control groups.
int64_t available_memory();

// What the control groups allow: the CPU quota in whole processors, and the bytes of memory that
// their limits leave, at least 1; 0 where there is no limit. `root` is where the groups are mounted
// (/sys/fs/cgroup), `membership` the text of /proc/self/cgroup; versions 1 and 2.
int quota_cpus(const std::string& root, const std::string& membership);
int64_t memory_left(const std::string& root, const std::string& membership);

// Bytes of anonymous memory that this process uses; 0 where the system does not report it.
size_t anonymous_bytes();

// Throws std::bad_alloc if the system would refuse `bytes` more, before a library crashes.
void require_memory(size_t bytes);

// "2G", "800M", "512K" or bytes; UsageError that begins with `option`.
int64_t parse_size(const std::string& text, const std::string& option);

// Recommended sizes include this reserve: the number of resident pages differs between runs of a
// program (Linux counts a thread's pages 64 at a time).
constexpr size_t reserve_bytes = size_t(1) << 20;

// The size to recommend for a plan of `bytes`, as "38M", reserve_bytes included.
std::string size_text(size_t bytes);

}  // namespace tx
