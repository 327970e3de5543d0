// The layout of the id cache, shared by its writer and its reader (tx-cache(5) is the full text):
//   magic, 8 bytes | ids of pair 0 side 0, pair 0 side 1, [links of pair 0,] pair 1 side 0 ...
//   padding to 8
//   index: one entry per pair | description: JSON | trailer
// All numbers are little-endian. The description is at the end because its totals are not known
// earlier, and the file is written in one pass.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tx::cache_format {

inline constexpr std::string_view magic = "tx-ids 1";
inline constexpr int version = 1;
inline constexpr int max_sides = 16;

// An index entry: u64 byte offset of the pair's ids, u64 line number, u32 length of each side, with
// links u32 their number, padded to a multiple of 8 bytes. The highest bit of the line number says
// that the pair goes on the document of the pair before it.
inline constexpr uint64_t continues_bit = uint64_t(1) << 63;
inline constexpr int64_t entry_bytes(int sides, bool links) {
  return 16 + (int64_t(sides + links) * 4 + 7) / 8 * 8;
}

// A link: u32 number of the source word, u32 number of the target word, both from 0.
inline constexpr int64_t link_bytes = 8;

// The trailer: XXH3 of the description (16 hexadecimal digits), u64 length of the description,
// magic.
inline constexpr int64_t trailer_bytes = 16 + 8 + 8;

// Ids take two bytes where every vocabulary allows it.
inline constexpr int id_width(int largest_vocabulary) {
  return largest_vocabulary <= 65536 ? 2 : 4;
}

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace tx::cache_format
