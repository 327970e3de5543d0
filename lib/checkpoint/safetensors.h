// The safetensors format: 8 bytes of header length (little-endian), a JSON header that gives each
// tensor's dtype, shape and place and some strings ("__metadata__"), then the tensors' bytes, one
// after another. Reading trusts nothing: every size is checked against the file before it is used.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/io.h"

namespace tx {

struct TensorInfo {
  std::string name, dtype;  // "F32", "F64", "BF16", "U8", ...
  std::vector<int64_t> shape;
  int64_t begin = 0, end = 0;  // bytes from the start of the data section
  int64_t elements() const;    // 1 for a scalar
  int64_t bytes() const { return end - begin; }
};

int64_t element_size(const std::string& dtype);             // bytes; 0: unknown
std::string shape_text(const std::vector<int64_t>& shape);  // "[512, 64]"

class SafetensorsReader {
 public:
  // Maps the file and checks its header: no tensor outside the file, no gap, no overlap, no name
  // twice. DataError when it is empty, truncated, damaged or of another format; `expected`
  // completes "expected ..." in the message. Of the file only the header is read.
  explicit SafetensorsReader(const std::string& path,
                             const std::string& expected = "a safetensors file");
  const std::string& path() const { return file_.path(); }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::string* metadata(const std::string& key) const;           // null when absent
  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // in order of position
  const TensorInfo* find(const std::string& name) const;               // null when absent
  // The tensor's bytes in the map; not aligned in a foreign file.
  const char* data(const TensorInfo& tensor) const { return file_.data() + data_ + tensor.begin; }
  int64_t data_bytes() const { return file_.size() - data_; }
  // Its pages no longer count as this process's memory until they are read again.
  void forget(const TensorInfo& t) const { file_.forget(data_ + t.begin, t.bytes()); }
  // XXH3 of the data section, compared with the metadata's "xxh3" where that is present: DataError
  // when they differ.
  std::string verified_hash() const;

 private:
  void place_tensors();
  MappedFile file_;
  int64_t data_ = 0;
  std::map<std::string, std::string> metadata_;
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string, size_t> index_;
};

// The metadata's "format_version" must be 1 to `newest`; DataError says to use a newer tx.
void check_format_version(const SafetensorsReader& file, int newest);

using ByteSink = std::function<void(const void* data, size_t bytes)>;

// One tensor to write. `produce` hands its bytes to the sink chunk by chunk; it is called twice,
// for the hash and for the file, and must produce the same bytes.
struct TensorSource {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::function<void(const ByteSink& sink)> produce;
  int64_t alignment = 0;  // bytes; 0: one element. The tensor's size is a multiple of it
};

// A U8 tensor of these bytes, which must outlive the source.
TensorSource byte_tensor(const std::string& name, std::string_view bytes);

// Writes atomically; tensors by descending alignment, else in the order given; the header is
// padded with spaces so that data begins at a multiple of 64 bytes. metadata gains "xxh3", the hash
// of the data section, which is returned. The bytes depend on the arguments alone.
std::string write_safetensors(const std::string& path, std::vector<TensorSource> tensors,
                              std::map<std::string, std::string> metadata);

}  // namespace tx
