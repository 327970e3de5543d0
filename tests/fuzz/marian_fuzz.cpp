// A .bin or a shortlist of Marian: what is accepted has readable weights.
#include "lib/convert/formats/tensors.h"
#include "tests/fuzz/target.h"
#include "tests/unit/convert/samples.h"

namespace tx_fuzz {

std::vector<std::string> seeds() { return {tx_test::marian_bin(), tx_test::marian_shortlist()}; }

void run(std::string_view bytes) {
  if (!tx::is_marian_bin(bytes)) {
    tx::parse_marian_shortlist(bytes, "F");
    return;
  }
  const tx::ForeignTensors tensors = tx::parse_marian_bin(bytes, "F");
  for (const auto& [name, t] : tensors.all()) {
    if (t.shape.size() > 2 || t.elements() > 1 << 16) continue;
    const tx::WeightRows rows = tensors.scaled_rows(name, t.shape);
    std::vector<float> values(size_t(rows.rows * rows.cols));
    rows.read(0, rows.rows, values.data());
    for (int64_t row = 0; rows.scale && row < rows.rows; ++row) rows.scale(row);
  }
}

}  // namespace tx_fuzz
