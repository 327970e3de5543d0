// Data compressed by deflate (RFC 1951), as archives hold it, and the checksum beside it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tx {

// Exactly `size` bytes from `bytes`, without the wrapping of gzip or zlib. False when they are
// damaged or make more or less; `to` then holds nothing of use. Memory: `size`, which the caller
// has found to be reasonable.
bool inflate_raw(std::string_view bytes, size_t size, std::string& to);

uint32_t crc32_of(std::string_view bytes);  // as zip and gzip files store it

}  // namespace tx
