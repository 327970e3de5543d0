// Sizes of memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tx {

// Anonymous memory in use by this process, bytes; 0 where the system does not say.
size_t anonymous_bytes();

// Bytes of memory that this process may use: the machine's, cut by the limits of its control
// groups, as available_cpus() is (lib/base/workers.h).
int64_t available_memory();

// The limit of memory in bytes, 0 where there is none; `root` and `membership` as for quota_cpus().
int64_t memory_limit(const std::string& root, const std::string& membership);

// std::bad_alloc where `bytes` more would be refused. For libraries that do not survive that.
void check_room(size_t bytes);

// "2G", "800M", "512K" or bytes; UsageError that begins with `option`.
int64_t parse_size(const std::string& text, const std::string& option);

// Two runs of a program do not hold the same number of pages, so what a message recommends has this
// much to spare. Linux counts a thread's pages 64 at a time.
constexpr size_t spare_bytes = size_t(1) << 20;

// What to give a program that planned `bytes`, for parse_size(): whole mebibytes, "38M", with
// spare_bytes in them.
std::string size_text(size_t bytes);

}  // namespace tx
