// GGUF, little-endian: "GGUF", u32 version 2 or 3, u64 tensors, u64 keys; keys (text, u32 type,
// value; a list is u32 type, u64 count, values); tensors (text, u32 dimensions, u64 each, the
// fastest first, u32 type, u64 offset); from the next multiple of general.alignment the data. A
// text is its u64 length and its bytes. Half of the types are blocks of quantised numbers, as ggml
// computes them.
#include <algorithm>
#include <bit>
#include <map>

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

namespace {

float half_at(const char* bytes) { return from_half(uint16_t(little_endian({bytes, 2}, 2))); }
int low(char byte) { return uint8_t(byte) & 15; }
int high(char byte) { return uint8_t(byte) >> 4; }

// f16 d, 32 i8
void read_q8_0(const char* block, float* to) {
  const float d = half_at(block);
  for (int i = 0; i < 32; ++i) to[i] = float(int8_t(block[2 + i])) * d;
}

// f16 d, 16 bytes: the low halves, then the high ones, minus 8
void read_q4_0(const char* block, float* to) {
  const float d = half_at(block);
  for (int i = 0; i < 16; ++i) {
    to[i] = float(low(block[2 + i]) - 8) * d;
    to[16 + i] = float(high(block[2 + i]) - 8) * d;
  }
}

// f16 d, f16 m, 16 bytes
void read_q4_1(const char* block, float* to) {
  const float d = half_at(block), m = half_at(block + 2);
  for (int i = 0; i < 16; ++i) {
    to[i] = float(low(block[4 + i])) * d + m;
    to[16 + i] = float(high(block[4 + i])) * d + m;
  }
}

// f16 d, f16 m, 8 scales and 8 minima of 6 bits in 12 bytes, 128 bytes: of each 32 the low halves,
// then the high ones
void read_q4_k(const char* block, float* to) {
  const float d = half_at(block), m = half_at(block + 2);
  const auto packed = [&](int i) { return int(uint8_t(block[4 + i])); };
  for (int part = 0; part < 8; ++part) {
    int scale = packed(part) & 63, minimum = packed(part + 4) & 63;
    if (part >= 4) {
      scale = (packed(part + 4) & 15) | packed(part - 4) >> 6 << 4;
      minimum = packed(part + 4) >> 4 | packed(part) >> 6 << 4;
    }
    const float factor = d * float(scale), less = m * float(minimum);
    const char* const from = block + 16 + part / 2 * 32;
    for (int i = 0; i < 32; ++i)
      to[part * 32 + i] = factor * float(part % 2 ? high(from[i]) : low(from[i])) - less;
  }
}

// 128 bytes of 4 low bits, 64 bytes of 2 high bits, 16 i8 scales, f16 d; minus 32
void read_q6_k(const char* block, float* to) {
  const float d = half_at(block + 208);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128, quarter = i % 128 / 32, at = i % 32;
    const char lows = block[half * 64 + quarter % 2 * 32 + at];
    const int highs = uint8_t(block[128 + half * 32 + at]) >> 2 * quarter & 3;
    const int q = ((quarter < 2 ? low(lows) : high(lows)) | highs << 4) - 32;
    to[i] = d * float(int8_t(block[192 + i / 16])) * float(q);
  }
}

struct Type {
  const char* dtype;  // "": blocks
  QuantisedBlock block;
};

const std::map<uint64_t, Type>& types() {
  static const std::map<uint64_t, Type> all = {{0, {"F32", {}}},
                                               {1, {"F16", {}}},
                                               {30, {"BF16", {}}},
                                               {2, {"", {"Q4_0", 32, 18, read_q4_0}}},
                                               {3, {"", {"Q4_1", 32, 20, read_q4_1}}},
                                               {8, {"", {"Q8_0", 32, 34, read_q8_0}}},
                                               {12, {"", {"Q4_K", 256, 144, read_q4_k}}},
                                               {14, {"", {"Q6_K", 256, 210, read_q6_k}}}};
  return all;
}

class GgufReader {
 public:
  GgufReader(std::string_view bytes, const std::string& where)
      : in_(bytes, where, "a GGUF file"),
        bytes_(bytes),
        out_{Json::object(), ForeignTensors(where)} {}

  GgufFile read() {
    if (in_.take(4) != "GGUF") in_.damaged("it does not begin as one");
    const uint64_t version = in_.number(4);
    if (version != 2 && version != 3)
      in_.damaged("its version is " + std::to_string(version) + "; 2 and 3 are supported");
    const uint64_t tensors = in_.number(8), keys = in_.number(8);
    for (uint64_t i = 0; i < keys; ++i) read_key();
    std::vector<Place> places;
    for (uint64_t i = 0; i < tensors; ++i) places.push_back(read_place());
    const uint64_t alignment = out_.keys.value("general.alignment", uint64_t(32));
    if (!std::has_single_bit(alignment) || alignment > 1 << 20)
      in_.damaged("its alignment is " + std::to_string(alignment));
    const uint64_t read = bytes_.size() - in_.rest().size();
    in_.take((alignment - read % alignment) % alignment);
    for (Place& place : places) add(place);
    return std::move(out_);
  }

 private:
  struct Place {
    std::string name;
    std::vector<int64_t> shape;
    uint64_t type = 0, offset = 0;
  };

  std::string text() {
    std::string text(in_.take(in_.number(8)));
    if (count_invalid_utf8(text) > 0) in_.damaged("a text is not UTF-8");
    return text;
  }

  void read_key() {
    const std::string key = text();
    const uint64_t type = in_.number(4);
    Json value = type == 9 ? list() : scalar(type);
    if (!out_.keys.emplace(key, std::move(value)).second) in_.damaged("a key occurs twice");
  }
  Json list() {
    const uint64_t type = in_.number(4), count = in_.number(8);
    Json values = Json::array();
    for (uint64_t i = 0; i < count; ++i) values.push_back(scalar(type));
    return values;
  }
  Json scalar(uint64_t type) {
    switch (type) {
      case 0:
        return in_.number(1);
      case 1:
        return int8_t(in_.number(1));
      case 2:
        return in_.number(2);
      case 3:
        return int16_t(in_.number(2));
      case 4:
        return in_.number(4);
      case 5:
        return int32_t(in_.number(4));
      case 6:
        return std::bit_cast<float>(uint32_t(in_.number(4)));
      case 7:
        return in_.number(1) != 0;
      case 8:
        return text();
      case 10:
        return in_.number(8);
      case 11:
        return int64_t(in_.number(8));
      case 12:
        return std::bit_cast<double>(in_.number(8));
      default:
        in_.damaged("a key has an unknown type");
    }
  }

  Place read_place() {
    Place place;
    place.name = text();
    const uint64_t dimensions = in_.number(4);
    if (dimensions > 4) in_.damaged("a tensor has too many dimensions");
    for (uint64_t i = 0; i < dimensions; ++i)
      place.shape.insert(place.shape.begin(), int64_t(in_.number(8)));
    if (std::ranges::count(place.shape, 0) > 0) in_.damaged("a tensor is empty");
    place.type = in_.number(4);
    place.offset = in_.number(8);
    return place;
  }

  void add(Place& place) {
    const auto type = types().find(place.type);
    if (type == types().end())
      throw DataError(out_.tensors.where() + ": " + shown(place.name) + " has the type " +
                      std::to_string(place.type) + " of ggml; supported are F32, F16, BF16, " +
                      "Q8_0, Q4_0, Q4_1, Q4_K and Q6_K");
    if (place.offset > in_.rest().size()) in_.damaged("it is truncated");
    ForeignTensor t{
        type->second.dtype, std::move(place.shape), {}, in_.rest().substr(place.offset)};
    if (t.dtype.empty()) t.block = &type->second.block;
    out_.tensors.add(place.name, std::move(t));
  }

  ByteReader in_;
  std::string_view bytes_;
  GgufFile out_;
};

}  // namespace

GgufFile parse_gguf(std::string_view bytes, const std::string& where) {
  return GgufReader(bytes, where).read();
}

}  // namespace tx
