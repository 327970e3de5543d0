// The safetensors format: 8 bytes of header length (little-endian), a JSON header, the tensors' bytes.
// Reading trusts nothing: every size is checked against the file before it is used.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/base/json.h"

namespace tx {

struct TensorInfo {
  std::string name, dtype;      // "F32", "F64", "BF16", "U8", ...
  std::vector<int64_t> shape;
  int64_t begin = 0, end = 0;   // bytes from the start of the data section
  int64_t elements() const;     // 1 for a scalar
};

class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::string& path);  // DataError: damaged, truncated, no such file
  const std::string& path() const { return file_.path(); }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // in order of position
  const TensorInfo* find(const std::string& name) const;               // null when absent
  const char* data(const TensorInfo& tensor) const { return file_.data() + data_ + tensor.begin; }
  std::string data_hash() const;  // XXH3 of the data section

 private:
  void parse_header(const Json& header);
  TensorInfo parse_tensor(const std::string& name, const Json& json) const;
  [[noreturn]] void damaged(const std::string& what) const;
  MappedFile file_;
  int64_t data_ = 0, data_bytes_ = 0;
  std::map<std::string, std::string> metadata_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, size_t> index_;
};

using ByteSink = std::function<void(const void* data, size_t bytes)>;

// One tensor to write. `produce` hands its bytes to the sink piece by piece; it is called twice,
// for the hash and for the file, and must produce the same bytes.
struct TensorSource {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::function<void(const ByteSink& sink)> produce;
};

// A tensor of bytes that lie in memory and outlive the source.
TensorSource memory_tensor(const std::string& name, const std::string& dtype,
                           const std::vector<int64_t>& shape, const void* bytes);

// Writes atomically; tensors by descending element size, else in the order given; the header is
// padded so that data begins at a multiple of 64 bytes. metadata gains "xxh3", the hash of the data
// section, which is returned.
std::string write_safetensors(const std::string& path, std::vector<TensorSource> tensors,
                              std::map<std::string, std::string> metadata);

int64_t element_size(const std::string& dtype);  // 0: unknown

}  // namespace tx
