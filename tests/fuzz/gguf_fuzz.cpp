// A GGUF file: what is accepted has readable weights.
#include "lib/convert/formats/tensors.h"
#include "tests/fuzz/target.h"

namespace tx_fuzz {

namespace {

std::string number(uint64_t value, size_t width) {
  std::string bytes;
  for (size_t i = 0; i < width; ++i, value >>= 8) bytes += char(value);
  return bytes;
}
std::string text(const std::string& value) { return number(value.size(), 8) + value; }

// Keys of several types, and a row of every type of tensors.
std::string sample() {
  std::string keys = text("general.alignment") + number(4, 4) + number(32, 4);
  keys += text("a") + number(8, 4) + text("b");
  keys += text("list") + number(9, 4) + number(8, 4) + number(2, 8) + text("x") + text("");
  keys += text("numbers") + number(9, 4) + number(6, 4) + number(1, 8) + number(0x3F800000, 4);
  keys += text("flag") + number(7, 4) + number(1, 1) + text("long") + number(11, 4) + number(9, 8);
  std::string tensors, data;
  for (const auto& [type, bytes] : {std::pair{0, 1024},
                                    {1, 512},
                                    {30, 512},
                                    {2, 144},
                                    {3, 160},
                                    {8, 272},
                                    {12, 144},
                                    {14, 210}}) {
    tensors += text("t" + std::to_string(type)) + number(2, 4) + number(256, 8) + number(1, 8) +
               number(uint64_t(type), 4) + number(data.size(), 8);
    for (int i = 0; i < bytes; ++i) data += char(i * 7);
    data.resize((data.size() + 31) / 32 * 32);
  }
  std::string file = "GGUF" + number(3, 4) + number(8, 8) + number(6, 8) + keys + tensors;
  file.resize((file.size() + 31) / 32 * 32);
  return file + data;
}

}  // namespace

std::vector<std::string> seeds() { return {sample()}; }

void run(std::string_view bytes) {
  const tx::GgufFile file = tx::parse_gguf(bytes, "F");
  for (const auto& [name, t] : file.tensors.all()) {
    if (t.shape.size() > 2 || t.elements() > 1 << 16) continue;
    const tx::WeightRows rows = file.tensors.rows(name, t.shape);
    std::vector<float> values(size_t(rows.rows * rows.cols));
    rows.read(0, rows.rows, values.data());
  }
}

}  // namespace tx_fuzz
