// A model.bin of CTranslate2: what is accepted has readable weights.
#include "lib/convert/formats/tensors.h"
#include "tests/fuzz/target.h"
#include "tests/unit/convert/samples.h"

namespace tx_fuzz {

using tx_test::little;

namespace {

std::string named(const std::string& name) { return little(name.size() + 1, 2) + name + '\0'; }

// A matrix of 2 x 2 bytes, its scales and an alias.
std::string model(int version) {
  std::string out = little(uint64_t(version), 4);
  if (version > 1) out += named("TransformerSpec") + little(7, 4);
  const auto sizes = [&](int type, int element, uint64_t count) {
    return version < 4 ? little(uint64_t(element), 1) + little(count, 4)
                       : little(uint64_t(type), 1) + little(count * uint64_t(element), 4);
  };
  out += little(2, 4) + named("w") + little(2, 1) + little(2, 4) + little(2, 4) + sizes(1, 1, 4) +
         "abcd";
  out += named("w_scale") + little(1, 1) + little(2, 4) + sizes(0, 4, 2) +
         tx_test::float_bytes({127, 1000});
  if (version > 2) out += little(1, 4) + named("v") + named("w");
  return out;
}

}  // namespace

std::vector<std::string> seeds() { return {model(1), model(2), model(3), model(4), model(6)}; }

void run(std::string_view bytes) {
  const tx::CTranslate2Model m = tx::parse_ctranslate2(bytes, "F");
  for (const auto& [name, t] : m.tensors.all()) {
    if (t.shape.size() > 2 || t.elements() > 1 << 16) continue;
    const tx::WeightRows rows = m.tensors.scaled_rows(name, t.shape);
    std::vector<float> values(size_t(rows.rows * rows.cols));
    rows.read(0, rows.rows, values.data());
    for (int64_t row = 0; rows.scale && row < rows.rows; ++row) rows.scale(row);
  }
}

}  // namespace tx_fuzz
