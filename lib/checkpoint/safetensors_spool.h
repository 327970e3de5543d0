// A safetensors file of any number of tensors in constant memory. The format has its header in
// front of the data, and the header lists every tensor; so both grow in a temporary file each,
// beside the file to be, and close() puts them together. On the disk this takes twice the file's
// size for that moment.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/io.h"

namespace tx {

class SafetensorsSpool {
 public:
  // The longest header that the packages for Python and Rust take.
  static constexpr int64_t longest_header = 100'000'000;

  // metadata: strings of the file; close() adds "xxh3", the hash of the data. IoError where the
  // folder of `path` cannot be written to.
  SafetensorsSpool(const std::string& path, std::map<std::string, std::string> metadata);
  ~SafetensorsSpool();
  SafetensorsSpool(const SafetensorsSpool&) = delete;
  SafetensorsSpool& operator=(const SafetensorsSpool&) = delete;

  // The next tensor; a name must not come twice. DataError once the header passes longest_header.
  void add(const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape,
           std::string_view bytes);
  // Writes the file, atomically; nothing is left behind without it.
  void close();

 private:
  struct Part;
  std::string path_;
  std::map<std::string, std::string> metadata_;
  std::unique_ptr<Part> header_, data_;
  Hasher hasher_;
  int64_t offset_ = 0;
};

}  // namespace tx
