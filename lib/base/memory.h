// Sizes of memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tx {

// Anonymous memory in use by this process, bytes; 0 where the system does not tell.
size_t anonymous_bytes();

// "2G", "800M", "512K" or bytes; UsageError that begins with `option`.
int64_t parse_size(const std::string& text, const std::string& option);

// What parse_size() reads as at least `bytes`: whole mebibytes, "37M".
std::string size_text(size_t bytes);

}  // namespace tx
