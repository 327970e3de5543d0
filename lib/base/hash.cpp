#include <xxhash.h>

#include <cinttypes>
#include <cstdio>
#include <new>

#include "lib/base/io.h"

namespace tx {

namespace {

std::string to_hex(uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, value);
  return digits;
}

XXH3_state_t* state_of(void* state) { return static_cast<XXH3_state_t*>(state); }

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

}  // namespace tx
