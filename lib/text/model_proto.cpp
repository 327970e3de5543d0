#include "lib/text/model_proto.h"

#include <cstdint>
#include <cstring>

#include "lib/base/error.h"

namespace tx {
namespace {

// Fields of sentencepiece_model.proto.
constexpr uint64_t field_piece = 1, field_trainer = 2, field_normalizer = 3, field_denormalizer = 5;
constexpr uint64_t field_charsmap = 2;  // of the normaliser's settings

// Reads a base-128 number and removes it from the front; false when it is cut off.
bool take_varint(std::string_view& rest, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= uint64_t(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool take_bytes(std::string_view& rest, uint64_t count, std::string_view& bytes) {
  if (count > rest.size()) return false;
  bytes = rest.substr(0, count);
  rest.remove_prefix(count);
  return true;
}

// Removes one field from the front; `content` is what a length stands before, else empty. False
// when it is malformed.
bool take_field(std::string_view& rest, uint64_t& number, std::string_view& content) {
  uint64_t key = 0, value = 0;
  std::string_view fixed;
  content = {};
  if (!take_varint(rest, key)) return false;
  number = key >> 3;
  switch (key & 7) {
    case 0:
      return take_varint(rest, value);
    case 1:
      return take_bytes(rest, 8, fixed);
    case 2:
      return take_varint(rest, value) && take_bytes(rest, value, content);
    case 5:
      return take_bytes(rest, 4, fixed);
    default:
      return false;
  }
}

uint32_t load(std::string_view bytes, size_t i) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + 4 * i, 4);
  return value;
}

// The table of a normaliser: the trie's size, a double-array trie (Darts) of 32-bit units, strings
// that end in NUL. SentencePiece follows it without looking: every step must stay inside the trie
// and every value inside the strings.
bool sound_charsmap(std::string_view map) {
  if (map.empty()) return true;
  if (map.size() < 4) return false;
  const uint32_t trie_bytes = load(map, 0);
  if (trie_bytes % 4 != 0 || trie_bytes < 1024 || trie_bytes >= map.size() - 4) return false;
  const std::string_view trie = map.substr(4, trie_bytes), strings = map.substr(4 + trie_bytes);
  if (strings.back() != '\0') return false;
  const size_t units = trie_bytes / 4;
  for (size_t i = 0; i < units; ++i) {
    const uint32_t unit = load(trie, i);
    if (unit >> 31) continue;  // a value: checked where a node refers to it
    const size_t base = i ^ (size_t(unit >> 10) << ((unit & 0x200) >> 6));
    if ((base | 0xFF) >= units) return false;  // a node's children stand at base ^ byte
    const bool ends_here = unit & 0x100;
    if (ends_here && (load(trie, base) & 0x7FFFFFFF) >= strings.size()) return false;
  }
  return true;
}

bool sound_normalizer(std::string_view settings) {
  while (!settings.empty()) {
    uint64_t number = 0;
    std::string_view content;
    if (!take_field(settings, number, content)) return false;
    if (number == field_charsmap && !sound_charsmap(content)) return false;
  }
  return true;
}

}  // namespace

void check_model_proto(std::string_view bytes, const std::string& where) {
  bool pieces = false, trainer = false, normalizer = false, sound = true;
  while (sound && !bytes.empty()) {
    uint64_t number = 0;
    std::string_view content;
    sound = take_field(bytes, number, content);
    if (sound && (number == field_normalizer || number == field_denormalizer)) {
      sound = sound_normalizer(content);
    }
    pieces |= sound && number == field_piece;
    trainer |= number == field_trainer;
    normalizer |= number == field_normalizer;
  }
  if (!pieces) throw DataError(where + " is no subword model and no word list");
  if (!sound || !trainer || !normalizer) {
    throw DataError(where + ": the subword model is cut off or damaged");
  }
}

}  // namespace tx
