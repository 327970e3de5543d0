// Sizes of memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tx {

// Anonymous memory in use by this process, bytes; 0 where the system does not say.
size_t anonymous_bytes();

// "2G", "800M", "512K" or bytes; UsageError that begins with `option`.
int64_t parse_size(const std::string& text, const std::string& option);

// Two runs of a program do not hold the same number of pages, so what a message recommends has this
// much to spare. Linux counts a thread's pages 64 at a time.
constexpr size_t spare_bytes = size_t(1) << 20;

// What to give a program that planned `bytes`, for parse_size(): whole mebibytes, "38M", with
// spare_bytes in them.
std::string size_text(size_t bytes);

}  // namespace tx
