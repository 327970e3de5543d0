// A file of torch.save(): an archive, or the pickles of older versions. Other bytes are used as a
// pickle inside an archive.
#include "lib/convert/formats/tensors.h"
#include "tests/fuzz/target.h"
#include "tests/unit/convert/samples.h"

namespace tx_fuzz {

std::vector<std::string> seeds() {
  const std::string pickle = tx_test::tensor_pickle();
  const std::string machine = "}(X" + tx_test::little(13, 4) + "little_endian\x88u.";
  return {tx_test::torch_archive(), pickle.substr(2),
          "\x80\x02K\x01.\x80\x02K\x01.\x80\x02" + machine + pickle + "\x80\x02]X" +
              tx_test::little(1, 4) + "0a." + tx_test::little(5, 8) +
              tx_test::float_bytes({9, 1, 2, 3, 4})};
}

void run(std::string_view bytes) {
  static MemoryFile file;
  const bool whole = bytes.starts_with("PK") || bytes.starts_with("\x80");
  const std::string archive =
      whole ? std::string(bytes) : tx_test::torch_archive(std::string(bytes));
  const tx::TorchFile torch = tx::read_torch_file(file.fill(archive));
  for (const auto& [name, tensor] : torch.tensors.all()) {
    if (tensor.shape.size() > 2 || tensor.elements() > 1 << 20) continue;
    const tx::WeightRows rows = torch.tensors.rows(name, tensor.shape);
    std::vector<float> values(size_t(rows.rows * rows.cols));
    rows.read(0, rows.rows, values.data());
  }
}

}  // namespace tx_fuzz
