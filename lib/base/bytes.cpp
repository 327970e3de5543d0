#include "lib/base/bytes.h"

#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <new>

namespace tx {

namespace {

std::string to_hex(uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, value);
  return digits;
}

XXH3_state_t* state_of(void* state) { return static_cast<XXH3_state_t*>(state); }

constexpr size_t max_at_once = size_t(1) << 30;  // zlib counts in 32 bits

}  // namespace

std::string xxh3_hex(const void* data, size_t bytes) { return to_hex(XXH3_64bits(data, bytes)); }

Hasher::Hasher() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(state_of(state_));
}

Hasher::~Hasher() { XXH3_freeState(state_of(state_)); }

void Hasher::add(const void* data, size_t bytes) {
  XXH3_64bits_update(state_of(state_), data, bytes);
}

std::string Hasher::hex() const { return to_hex(XXH3_64bits_digest(state_of(state_))); }

uint32_t crc32_of(std::string_view bytes) {
  uLong crc = crc32(0, nullptr, 0);
  for (size_t at = 0; at < bytes.size(); at += max_at_once) {
    const std::string_view chunk = bytes.substr(at, max_at_once);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(chunk.data()), uInt(chunk.size()));
  }
  return uint32_t(crc);
}

bool inflate_raw(std::string_view bytes, size_t size, std::string& to) {
  to.resize(size);
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return false;
  size_t read = 0, written = 0;
  int status = Z_OK;
  char none = 0;  // zlib requires an address even for 0 bytes
  while (status == Z_OK) {
    const size_t in = std::min(bytes.size() - read, max_at_once);
    const size_t out = std::min(size - written, max_at_once);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    z.avail_in = uInt(in);
    z.next_out = reinterpret_cast<Bytef*>(out > 0 ? to.data() + written : &none);
    z.avail_out = uInt(out);
    status = inflate(&z, Z_NO_FLUSH);
    read += in - z.avail_in;
    written += out - z.avail_out;
  }
  inflateEnd(&z);
  return status == Z_STREAM_END && written == size && read == bytes.size();
}

}  // namespace tx
