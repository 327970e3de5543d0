// Archives and pickles made by hand.
#pragma once
#include <string>
#include <vector>

#include "lib/base/bytes.h"

namespace tx_test {

inline std::string little(uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i, value >>= 8) bytes += char(value);
  return bytes;
}

struct ZipEntry {
  std::string name, content;
  std::string packed = "";  // by deflate; empty: the content is stored
  uint64_t size = 0;        // in the header; 0: that of the content
};

// `gap`: bytes between a local header and its data, as torch.save aligns them.
inline std::string zip_bytes(const std::vector<ZipEntry>& entries, size_t gap = 0) {
  std::string out, list;
  for (const ZipEntry& e : entries) {
    const bool deflated = !e.packed.empty();
    const std::string& data = deflated ? e.packed : e.content;
    const uint64_t size = e.size != 0 ? e.size : e.content.size();
    const std::string common = little(0, 2) + little(deflated ? 8 : 0, 2) + little(0, 4) +
                               little(tx::crc32_of(e.content), 4) + little(data.size(), 4) +
                               little(size, 4) + little(e.name.size(), 2);
    list += "PK\x01\x02" + little(20, 2) + little(20, 2) + common + little(0, 2) + little(0, 2) +
            little(0, 2) + little(0, 2) + little(0, 4) + little(out.size(), 4) + e.name;
    out += "PK\x03\x04" + little(20, 2) + common + little(gap, 2) + e.name + std::string(gap, 'Z') +
           data;
  }
  const std::string begin = little(out.size(), 4);
  return out + list + "PK\x05\x06" + little(0, 4) + little(entries.size(), 2) +
         little(entries.size(), 2) + little(list.size(), 4) + begin + little(0, 2);
}

// The pickle of {"w": a float tensor of 2 rows of 2, first element 1 of storage "0"}, as
// torch.save writes it; `rows_apart` is its first stride.
inline std::string tensor_pickle(int rows_apart = 2) {
  const auto text = [](const std::string& t) { return "X" + little(t.size(), 4) + t; };
  return "\x80\x02}q" + little(0, 1) + "(" + text("w") + "ctorch._utils\n_rebuild_tensor_v2\n((" +
         text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") +
         "K\x05tQK\x01K\x02K" + "\x02\x86K" + little(uint64_t(rows_apart), 1) + "K\x01\x86\x89" +
         "ccollections\nOrderedDict\n)RtRu.";
}

inline std::string float_bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

inline std::string torch_archive(const std::string& pickle = tensor_pickle()) {
  return zip_bytes({{"m/data.pkl", pickle}, {"m/data/0", float_bytes({9, 1, 2, 3, 4})}}, 5);
}

inline std::string npy_bytes(const std::string& header, const std::string& data) {
  return "\x93NUMPY" + little(1, 1) + little(0, 1) + little(header.size(), 2) + header + data;
}

// A .bin of Marian: a 2 x 3 matrix of intgemm8, kept transposed, with the multiplier 2; an
// embedding of 2 x 2 bytes with 4; a vector.
inline std::string marian_bin() {
  struct Item {
    std::string name, data;
    uint64_t type;
    std::vector<int> shape;
  };
  const std::vector<Item> items = {
      {"Wemb", std::string("\x04\x08\xFC\x7F", 4) + float_bytes({4}), 0x4101, {2, 2}},
      {"l_W", std::string("\x02\x04\x06\x08\xFE\x81", 6) + float_bytes({2}), 0x4101, {2, 3}},
      {"l_b", float_bytes({0.5f, 1}), 0x404, {1, 2}}};
  std::string head = little(1, 8) + little(items.size(), 8), names, shapes, data;
  for (const Item& item : items) {
    for (const uint64_t n : {item.name.size() + 1, item.type, item.shape.size(), item.data.size()})
      head += little(n, 8);
    names += item.name + std::string(1, '\0');
    for (const int d : item.shape) shapes += little(uint64_t(d), 4);
    data += item.data;
  }
  return head + names + shapes + little(3, 8) + "gap" + data;
}

// A binary shortlist of Marian: the first 2 ids; source 0 has none, source 1 has 7 and 5.
inline std::string marian_shortlist() {
  const std::vector<uint64_t> words = {2, 5, 3, 2, 0, 0, 2, uint64_t(5) << 32 | 7};
  uint64_t sum = 0;
  std::string rest;
  for (const uint64_t word : words) {
    sum ^= word + 0x9e3779b9 + (sum << 6) + (sum >> 2);
    rest += little(word, 8);
  }
  return little(0xF11A48D5013417F5, 8) + little(sum, 8) + rest;
}

}  // namespace tx_test
