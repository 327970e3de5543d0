// An array of numpy.
#include "lib/convert/formats/tensors.h"
#include "tests/fuzz/target.h"
#include "tests/unit/convert/samples.h"

namespace tx_fuzz {

std::vector<std::string> seeds() {
  return {tx_test::npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n",
                             tx_test::float_bytes({1, 2, 3, 4})),
          tx_test::npy_bytes("{'descr': '<f2', 'fortran_order': True, 'shape': (), }", "ab")};
}

void run(std::string_view bytes) {
  tx::ForeignTensors tensors("F");
  tensors.add("a", tx::parse_npy(bytes, "F"));
  const tx::ForeignTensor& a = tensors.at("a");
  if (a.shape.size() > 2 || a.elements() > 1 << 20) return;
  const tx::WeightRows rows = tensors.rows("a", a.shape);
  std::vector<float> values(size_t(rows.rows * rows.cols));
  rows.read(0, rows.rows, values.data());
}

}  // namespace tx_fuzz
