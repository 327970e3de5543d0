// Numbers of 16 bits, IEEE 754 binary16.
#pragma once
#include <bit>
#include <cstdint>

namespace tx {

// Rounds to the nearest, ties to even; what is too large becomes infinity.
inline uint16_t to_half(float x) {
  const uint32_t all = std::bit_cast<uint32_t>(x);
  const auto sign = uint16_t(all >> 16 & 0x8000);
  const uint32_t size = all & 0x7FFFFFFF;
  if (size > 0x7F800000) return uint16_t(sign | 0x7E00);   // NaN
  if (size >= 0x47800000) return uint16_t(sign | 0x7C00);  // 2^16 and more
  if (size < 0x38800000) {  // below 2^-14: 0.5 has the unit of such numbers, so adding rounds
    const float shifted = std::bit_cast<float>(size) + 0.5f;
    return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)));
  }
  const uint32_t to_even = 0xFFF + (size >> 13 & 1);
  return uint16_t(sign | ((size + to_even - 0x38000000) >> 13));
}

}  // namespace tx
