// A safetensors file: header and data.
#include "lib/base/bytes.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/checkpoint/transfer.h"
#include "tests/fuzz/target.h"

namespace tx_fuzz {

namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[size_t(i)] = char(uint64_t(header.size()) >> (8 * i));
  return length + header + data;
}

}  // namespace

std::vector<std::string> seeds() {
  return {
      file_of("{}", ""),
      file_of(R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", "abcd"),
      file_of(R"({"__metadata__":{"format_version":"1","k":"v"},)"
              R"("a":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
              R"("b":{"dtype":"U8","shape":[0,3],"data_offsets":[8,8]},)"
              R"("c":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]}})",
              std::string(16, '\x3F')),
  };
}

void run(std::string_view bytes) {
  static MemoryFile file;
  const tx::SafetensorsReader reader(file.fill(bytes));
  int64_t all = 0;
  for (const tx::TensorInfo& tensor : reader.tensors()) {
    require(reader.find(tensor.name) == &tensor, "a tensor is found by its name");
    require(tensor.elements() * tx::element_size(tensor.dtype) == tensor.bytes(), "bytes");
    std::vector<double> values(size_t(tensor.elements()));
    if (tx::is_floating(tensor.dtype)) {
      tx::to_doubles(reader.data(tensor), tensor.dtype, tensor.elements(), values.data());
    } else {
      tx::xxh3_hex(reader.data(tensor), size_t(tensor.bytes()));
    }
    all += tensor.bytes();
  }
  require(all == reader.data_bytes(), "the tensors are the data");
  reader.verified_hash();
  if (reader.metadata("format_version")) tx::check_format_version(reader, 1);
}

}  // namespace tx_fuzz
