#include "lib/text/model_proto.h"

#include <cstdint>

#include "lib/base/error.h"

namespace tx {
namespace {

// Fields of sentencepiece_model.proto.
enum { field_piece = 1, field_trainer = 2, field_normalizer = 3 };

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

bool take_bytes(std::string_view& rest, uint64_t count) {
  if (count > rest.size()) return false;
  rest.remove_prefix(count);
  return true;
}

// Removes one field from the front and tells its number; false when it is malformed.
bool take_field(std::string_view& rest, uint64_t& number) {
  uint64_t key = 0, value = 0;
  if (!take_varint(rest, key)) return false;
  number = key >> 3;
  switch (key & 7) {
    case 0:
      return take_varint(rest, value);
    case 1:
      return take_bytes(rest, 8);
    case 2:
      return take_varint(rest, value) && take_bytes(rest, value);
    case 5:
      return take_bytes(rest, 4);
    default:
      return false;
  }
}

}  // namespace

void check_model_proto(std::string_view bytes, const std::string& where) {
  bool pieces = false, trainer = false, normalizer = false;
  while (!bytes.empty()) {
    uint64_t number = 0;
    if (!take_field(bytes, number)) {
      if (!pieces) throw DataError(where + " is no subword model and no word list");
      throw DataError(where + ": the subword model is cut off or damaged");
    }
    pieces |= number == field_piece;
    trainer |= number == field_trainer;
    normalizer |= number == field_normalizer;
  }
  if (!pieces) throw DataError(where + " is no subword model and no word list");
  if (!trainer || !normalizer) throw DataError(where + ": the subword model is cut off");
}

}  // namespace tx
