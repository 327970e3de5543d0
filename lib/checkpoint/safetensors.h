// The safetensors format: 8 bytes of header length (little-endian), a JSON header with the dtype,
// shape and position of each tensor and a map of strings ("__metadata__"), then the data: the bytes
// of the tensors without gaps. Files are untrusted: every size is checked before it is used.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/bytes.h"
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
  // Maps the file and checks its header: no tensor outside the file, no gap, no overlap, no
  // duplicate name. DataError if it is empty, truncated, damaged or of another format; `expected`
  // completes "expected ..." in the message. Reads only the header.
  explicit SafetensorsReader(const std::string& path,
                             const std::string& expected = "a safetensors file");
  const std::string& path() const { return file_.path(); }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::string* metadata(const std::string& key) const;           // null when absent
  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // in order of position
  const TensorInfo* find(const std::string& name) const;               // null when absent
  // The tensor's bytes in the mapped file; unaligned if another program wrote it so.
  const char* data(const TensorInfo& tensor) const { return file_.data() + data_ + tensor.begin; }
  int64_t data_bytes() const { return file_.size() - data_; }
  // Releases the tensor's pages until they are read again.
  void forget(const TensorInfo& t) const { file_.forget(data_ + t.begin, t.bytes()); }
  // XXH3 of the data section. DataError if the metadata has "xxh3" and it differs.
  std::string verified_hash() const;
  // DataError if the file has been overwritten since verified_hash(), see MappedFile.
  void check_unchanged() const;

 private:
  void place_tensors();
  std::string hash() const;
  MappedFile file_;
  mutable std::string verified_;  // the hash that verified_hash() returned
  int64_t data_ = 0;
  std::map<std::string, std::string> metadata_;
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string, size_t> index_;
};

// DataError unless the metadata's "format_version" is between 1 and `newest`.
void check_format_version(const SafetensorsReader& file, int newest);

using ByteSink = std::function<void(const void* data, size_t bytes)>;

// A tensor to write. `produce` passes its bytes to the sink in chunks; it is called twice, for the
// hash and for the file, and must produce the same bytes.
struct TensorSource {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::function<void(const ByteSink& sink)> produce;
  int64_t alignment = 0;  // bytes; 0: one element. Must divide the tensor's size
};

// A U8 tensor of these bytes, which must outlive the source.
TensorSource byte_tensor(const std::string& name, std::string_view bytes);

// Writes atomically, tensors by descending alignment, then in the order given. The header is padded
// with spaces so that the data begins at a multiple of 64 bytes. Adds "xxh3" to the metadata, the
// hash of the data section, and returns it. The bytes depend only on the arguments.
std::string write_safetensors(const std::string& path, std::vector<TensorSource> tensors,
                              std::map<std::string, std::string> metadata);

struct SpoolPart;  // a temporary file

// Writes a safetensors file of one tensor of any number of rows in constant memory: the header
// states their number, so the rows are collected in a temporary file beside the output.
class RowSpool {
 public:
  explicit RowSpool(const std::string& path);  // IoError if the directory is not writable
  ~RowSpool();
  void add(std::string_view bytes);
  // Writes the file, as write_safetensors() does. `shape` is that of a row.
  void close(const std::string& name, const std::string& dtype, std::vector<int64_t> shape,
             std::map<std::string, std::string> metadata);

 private:
  std::string path_;
  std::unique_ptr<SpoolPart> rows_;
};

// Writes a safetensors file of any number of tensors in constant memory. The header, which precedes
// the data, lists every tensor, so header and data grow in a temporary file each, in the directory
// of the output, and close() joins them; until then this needs twice the file's size on the disk.
class SafetensorsSpool {
 public:
  // The longest header that the packages for Python and Rust read.
  static constexpr int64_t max_header = 100'000'000;

  // close() adds "xxh3", the hash of the data. IoError if the directory is not writable.
  SafetensorsSpool(const std::string& path, std::map<std::string, std::string> metadata);
  ~SafetensorsSpool();
  SafetensorsSpool(const SafetensorsSpool&) = delete;
  SafetensorsSpool& operator=(const SafetensorsSpool&) = delete;

  // Appends a tensor; names must be unique. DataError once the header exceeds max_header.
  void add(const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape,
           std::string_view bytes);
  // Writes the file, atomically. Without close() nothing is left on the disk.
  void close();

 private:
  void check_header(int64_t bytes, const std::string& where) const;
  std::string path_;
  std::map<std::string, std::string> metadata_;
  std::unique_ptr<SpoolPart> header_, data_;
  Hasher hasher_;
  int64_t offset_ = 0;
};

}  // namespace tx
