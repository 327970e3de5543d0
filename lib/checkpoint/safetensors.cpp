#include "lib/checkpoint/safetensors.h"

#include <algorithm>
#include <cstring>

#include "lib/base/error.h"

namespace tx {

namespace {
constexpr int64_t header_limit = int64_t(100) << 20;  // the format's own
}

int64_t element_size(const std::string& dtype) {
  static const std::map<std::string, int64_t> sizes = {
      {"F64", 8}, {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4},  {"U32", 4}, {"F16", 2},
      {"BF16", 2}, {"I16", 2}, {"U16", 2}, {"I8", 1}, {"U8", 1}, {"BOOL", 1}};
  const auto at = sizes.find(dtype);
  return at == sizes.end() ? 0 : at->second;
}

int64_t TensorInfo::elements() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

void SafetensorsReader::damaged(const std::string& what) const {
  throw DataError(file_.path() + " is damaged or no safetensors file: " + what);
}

SafetensorsReader::SafetensorsReader(const std::string& path) : file_(path) {
  if (file_.size() < 8) damaged("it has only " + std::to_string(file_.size()) + " bytes");
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | uint8_t(file_.data()[i]);
  if (length > uint64_t(header_limit) || int64_t(length) > file_.size() - 8)
    damaged("its header claims " + std::to_string(length) + " bytes");
  data_ = 8 + int64_t(length);
  data_bytes_ = file_.size() - data_;
  parse_header(parse_json({file_.data() + 8, size_t(length)}, path));
}

void SafetensorsReader::parse_header(const Json& header) {
  if (!header.is_object()) damaged("its header is no JSON object");
  for (const auto& [name, value] : header.items()) {
    if (name != "__metadata__") {
      tensors_.push_back(parse_tensor(name, value));
      continue;
    }
    if (!value.is_object()) damaged("its metadata is no JSON object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) damaged("its metadata '" + key + "' is no string");
      metadata_[key] = text.get<std::string>();
    }
  }
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  int64_t at = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].begin != at) damaged("tensor '" + tensors_[i].name + "' is out of place");
    at = tensors_[i].end;
    if (!index_.emplace(tensors_[i].name, i).second)
      damaged("tensor '" + tensors_[i].name + "' stands twice");
  }
  if (at != data_bytes_)
    damaged("its tensors need " + std::to_string(at) + " bytes, but " +
            std::to_string(data_bytes_) + " follow the header");
}

TensorInfo SafetensorsReader::parse_tensor(const std::string& name, const Json& json) const {
  TensorInfo t;
  t.name = name;
  const auto size = [&](const Json& x) {
    if (!x.is_number_unsigned() || x.get<uint64_t>() > uint64_t(1) << 48)
      damaged("tensor '" + name + "' has a bad size");
    return int64_t(x.get<uint64_t>());
  };
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() ||
      !json.contains("shape") || !json["shape"].is_array() || !json.contains("data_offsets") ||
      !json["data_offsets"].is_array() || json["data_offsets"].size() != 2)
    damaged("tensor '" + name + "' is not described");
  t.dtype = json["dtype"].get<std::string>();
  const int64_t each = element_size(t.dtype);
  if (each == 0) damaged("tensor '" + name + "' has the unknown dtype " + t.dtype);
  t.begin = size(json["data_offsets"][0]);
  t.end = size(json["data_offsets"][1]);
  int64_t bytes = each;
  for (const Json& dimension : json["shape"]) {
    const int64_t d = size(dimension);
    if (d != 0 && bytes > (int64_t(1) << 48) / d) damaged("tensor '" + name + "' is too large");
    bytes *= d;
    t.shape.push_back(d);
  }
  if (t.begin > t.end || t.end > data_bytes_ || t.end - t.begin != bytes)
    damaged("tensor '" + name + "' does not fit its place");
  return t;
}

const TensorInfo* SafetensorsReader::find(const std::string& name) const {
  const auto at = index_.find(name);
  return at == index_.end() ? nullptr : &tensors_[at->second];
}

std::string SafetensorsReader::data_hash() const {
  return xxh3_hex(file_.data() + data_, size_t(data_bytes_));
}

namespace {

int64_t size_of(const std::string& dtype, const std::vector<int64_t>& shape) {
  int64_t bytes = element_size(dtype);
  for (const int64_t d : shape) bytes *= d;
  return bytes;
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
    TX_ASSERT(int64_t(produced) == size_of(t.dtype, t.shape));
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
    const int64_t end = offset + size_of(t.dtype, t.shape);
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

TensorSource memory_tensor(const std::string& name, const std::string& dtype,
                           const std::vector<int64_t>& shape, const void* bytes) {
  const size_t size = size_t(size_of(dtype, shape));
  return {name, dtype, shape, [bytes, size](const ByteSink& sink) { sink(bytes, size); }};
}

std::string write_safetensors(const std::string& path, std::vector<TensorSource> tensors,
                              std::map<std::string, std::string> metadata) {
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const TensorSource& a, const TensorSource& b) {
                     return element_size(a.dtype) > element_size(b.dtype);
                   });
  // The hash stands in the header, in front of the data; a second pass is cheaper than room for all
  // tensors.
  const std::string hash = metadata["xxh3"] = produce_all(tensors, [](const void*, size_t) {});
  write_atomically(path, [&](Writer& out) {
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
