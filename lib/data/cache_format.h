// The layout of the id cache, for its writer and its reader; tx-cache(5) has the details:
//   magic, 8 bytes | ids of pair 0 side 0, pair 0 side 1, [links of pair 0,] pair 1 side 0 ...
//   | padding to a multiple of 8 bytes | index: one entry per pair | description: JSON | trailer
// Little-endian. The description is at the end because the file is written in one pass, which
// computes its totals.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tx::cache_format {

inline constexpr std::string_view magic = "tx-ids 1";
inline constexpr int version = 1;
inline constexpr int max_sides = 16;

// An index entry: u64 byte offset of the pair's ids, u64 line number, u32 length of each side, with
// links u32 their number, padded to a multiple of 8 bytes. The highest bit of the line number: the
// pair continues the document of the previous pair.
inline constexpr uint64_t continues_bit = uint64_t(1) << 63;
inline constexpr int64_t entry_bytes(int sides, bool links) {
  return 16 + (int64_t(sides + links) * 4 + 7) / 8 * 8;
}

// A link: u32 source word, u32 target word, both from 0.
inline constexpr int64_t link_bytes = 8;

// The trailer: XXH3 of the description (16 hexadecimal digits), its u64 length, magic.
inline constexpr int64_t trailer_bytes = 16 + 8 + 8;

// Ids have two bytes if every vocabulary allows it.
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
