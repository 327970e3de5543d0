// Numbers in bytes, the lowest byte first.
#pragma once
#include <cstdint>
#include <string_view>

namespace tx {

// The first `width` bytes, at most 8; `bytes` has so many.
inline uint64_t little_endian(std::string_view bytes, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | uint8_t(bytes[i]);
  return value;
}

}  // namespace tx
