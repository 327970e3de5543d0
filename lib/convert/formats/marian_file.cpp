// Binary models of Marian, little-endian: u64 version 1; u64 count; four u64 for each item (length
// of its name, type, rank, bytes); the names, each with its NUL; the shapes, int32; u64 gap, and so
// many bytes; the data of the items in turn. An item of intgemm8 ends in its float32 multiplier,
// and is transposed unless it is the embedding. Shortlists: eight-byte magic, checksum, first,
// best, number of offsets, number of ids; the offsets, u64, one for each source token and the end;
// the ids, u32.
#include <algorithm>
#include <cstring>
#include <map>

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

namespace {

struct Item {
  std::string name;
  uint64_t name_bytes = 0, type = 0, rank = 0, bytes = 0;
};

class BinReader {
 public:
  BinReader(std::string_view bytes, const std::string& where)
      : in_(bytes, where, "a model of Marian"), where_(where), out_(where) {}

  ForeignTensors read() {
    number();  // version
    const uint64_t count = number();
    if (count > in_.rest().size() / 32) in_.damaged("it is truncated");
    std::vector<Item> items(count);
    for (Item& item : items)
      item.name_bytes = number(), item.type = number(), item.rank = number(), item.bytes = number();
    for (Item& item : items) {
      item.name = in_.take(item.name_bytes);
      item.name.resize(std::strlen(item.name.c_str()));  // without NUL
    }
    std::vector<std::vector<int64_t>> shapes;
    for (const Item& item : items) {
      if (item.rank > 16) in_.damaged("an item has too many dimensions");
      std::vector<int64_t>& shape = shapes.emplace_back();
      for (uint64_t i = 0; i < item.rank; ++i) shape.push_back(int32_t(in_.number(4)));
    }
    in_.take(number());
    for (size_t i = 0; i < items.size(); ++i) add(items[i], std::move(shapes[i]));
    return std::move(out_);
  }

 private:
  uint64_t number() { return in_.number(8); }

  void add(const Item& item, std::vector<int64_t> shape) {
    // intgemm8: of Bergamot's Marian, and of Marian from 1.11 on.
    static const std::map<uint64_t, const char*> types = {
        {0x404, "F32"}, {0x402, "F16"}, {0x101, "I8"}, {0x204, "U32"}, {0x4101, ""}, {0x10001, ""}};
    const auto type = types.find(item.type);
    const std::string_view bytes = in_.take(item.bytes);
    if (type == types.end())
      throw DataError(
          where_ + ": " + shown(item.name) + " has elements of type " + std::to_string(item.type) +
          ", which depends on the processor or is not supported; supported are float32, "
          "float16 and intgemm8");
    if (*type->second != '\0')
      return out_.add(item.name, {type->second, std::move(shape), {}, bytes});
    if (shape.size() != 2) in_.damaged("an item of intgemm8 is not a matrix");
    if (item.name.find("Wemb") == item.name.npos) std::swap(shape[0], shape[1]);
    const ForeignTensor matrix{"I8", std::move(shape), {}, bytes};
    out_.add(item.name, matrix);  // checks the size
    const auto count = uint64_t(matrix.elements());
    if (bytes.size() - count < 4) in_.damaged("an item of intgemm8 has no multiplier");
    out_.add(item.name + "_scale", {"F32", {1}, {}, bytes.substr(count, 4)});
  }

  ByteReader in_;
  const std::string& where_;
  ForeignTensors out_;
};

constexpr uint64_t shortlist_magic = 0xF11A48D5013417F5;

// Of the words after the magic and this sum; less than a word at the end does not count.
uint64_t shortlist_checksum(std::string_view bytes) {
  uint64_t sum = 0;
  for (uint64_t i = 16; i + 8 <= bytes.size(); i += 8)
    sum ^= little_endian(bytes.substr(i), 8) + 0x9e3779b9 + (sum << 6) + (sum >> 2);
  return sum;
}

}  // namespace

std::string bytes_of(const MarianShortlist& shortlist) {
  std::string offsets, ids;
  uint64_t count = 0, most = 0;
  for (const std::vector<uint32_t>& list : shortlist.best) {
    offsets += little_endian_bytes(count, 8);
    for (const uint32_t id : list) ids += little_endian_bytes(id, 4);
    count += list.size(), most = std::max<uint64_t>(most, list.size());
  }
  offsets += little_endian_bytes(count, 8);
  std::string bytes = little_endian_bytes(shortlist_magic, 8) + std::string(8, '\0');
  for (const uint64_t n : {shortlist.first, most, uint64_t(offsets.size() / 8), count})
    bytes += little_endian_bytes(n, 8);
  bytes += offsets + ids;
  return bytes.replace(8, 8, little_endian_bytes(shortlist_checksum(bytes), 8));
}

bool is_marian_bin(std::string_view bytes) {
  return bytes.size() >= 8 && little_endian(bytes, 8) == 1;
}

ForeignTensors parse_marian_bin(std::string_view bytes, const std::string& where) {
  return BinReader(bytes, where).read();
}

MarianShortlist parse_marian_shortlist(std::string_view bytes, const std::string& where) {
  const auto damaged = [&](const std::string& why) {
    throw DataError(where + " is damaged or not a binary shortlist of Marian: " + why);
  };
  const auto word = [&](uint64_t i) { return little_endian(bytes.substr(8 * i), 8); };
  if (bytes.size() < 48 || word(0) != shortlist_magic) damaged("it does not begin as one");
  MarianShortlist out;
  out.first = word(2);
  const uint64_t offsets = word(4), ids = word(5), most = bytes.size();
  if (offsets > most / 8 || ids > most / 4 || 48 + 8 * offsets + 4 * ids != most)
    damaged("its size is not what its header says");
  if (shortlist_checksum(bytes) != word(1)) damaged("its checksum is wrong");
  for (uint64_t source = 0; source + 1 < offsets; ++source) {
    const uint64_t begin = word(6 + source), end = word(7 + source);
    if (begin > end || end > ids) damaged("its lists overlap");
    std::vector<uint32_t>& list = out.best.emplace_back();
    for (uint64_t i = begin; i < end; ++i)
      list.push_back(uint32_t(little_endian(bytes.substr(48 + 8 * offsets + 4 * i), 4)));
  }
  return out;
}

}  // namespace tx
