#include <algorithm>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/checkpoint/safetensors.h"

namespace tx {

namespace {

int64_t size_of(const TensorSource& t) {
  int64_t bytes = element_size(t.dtype);
  TX_ASSERT(bytes > 0);
  for (const int64_t d : t.shape) bytes *= d;
  return bytes;
}

int64_t alignment_of(const TensorSource& t) {
  return t.alignment ? t.alignment : element_size(t.dtype);
}

// Hands every tensor's bytes to the sink and returns their hash.
std::string produce_all(const std::vector<TensorSource>& tensors, const ByteSink& sink) {
  Hasher hasher;
  for (const TensorSource& t : tensors) {
    size_t produced = 0;
    t.produce([&](const void* data, size_t bytes) {
      hasher.add(data, bytes);
      sink(data, bytes);
      produced += bytes;
    });
    TX_ASSERT(int64_t(produced) == size_of(t));
  }
  return hasher.hex();
}

// The length and the header, padded so that data begins at a multiple of 64 bytes.
std::string header_bytes(const std::vector<TensorSource>& tensors,
                         const std::map<std::string, std::string>& metadata) {
  Json header;
  for (const auto& [key, value] : metadata) header["__metadata__"][key] = value;
  int64_t offset = 0;
  for (const TensorSource& t : tensors) {
    TX_ASSERT(!header.contains(t.name));
    const int64_t end = offset + size_of(t);
    header[t.name] = {{"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = to_text(header);
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[size_t(i)] = char(uint64_t(text.size()) >> (8 * i));
  return length + text;
}

}  // namespace

TensorSource byte_tensor(const std::string& name, std::string_view bytes) {
  return {name, "U8", {int64_t(bytes.size())}, [bytes](const ByteSink& sink) {
            sink(bytes.data(), bytes.size());
          }};
}

std::string write_safetensors(const std::string& path, std::vector<TensorSource> tensors,
                              std::map<std::string, std::string> metadata) {
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const TensorSource& a, const TensorSource& b) {
                     return alignment_of(a) > alignment_of(b);
                   });
  std::string hash;
  write_atomically(path, [&](Writer& out) {
    // The hash stands in the header, in front of the data; a second pass is cheaper than room for
    // all tensors.
    hash = produce_all(tensors, [](const void*, size_t) {});
    metadata["xxh3"] = hash;
    out.write(header_bytes(tensors, metadata));
    const std::string written = produce_all(tensors, [&](const void* data, size_t bytes) {
      out.write({static_cast<const char*>(data), bytes});
    });
    if (written != hash)
      throw DataError(path + ": a file it is made of changed in the meantime; run it again");
  });
  return hash;
}

}  // namespace tx
