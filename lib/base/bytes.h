// Hashes and checksums of bytes in memory, and raw deflate.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tx {

std::string xxh3_hex(const void* data, size_t bytes);  // XXH3-64: 16 hexadecimal digits

// XXH3 over a stream of chunks, equal to xxh3_hex() of their concatenation.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void add(const void* data, size_t bytes);
  std::string hex() const;

 private:
  void* state_;
};

uint32_t crc32_of(std::string_view bytes);  // as in zip and gzip files

// Decompresses `bytes` (deflate, RFC 1951) into exactly `size` bytes, which the caller checks.
// False: damaged, or another length; `to` is then unspecified.
bool inflate_raw(std::string_view bytes, size_t size, std::string& to);

}  // namespace tx
