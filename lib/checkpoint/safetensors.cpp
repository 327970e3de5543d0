#include "lib/checkpoint/safetensors.h"

#include <algorithm>
#include <tuple>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/checkpoint/safetensors_header.h"

namespace tx {

namespace {

constexpr uint64_t header_limit = 100'000'000;  // the format's own
constexpr int64_t prefix = 8;                   // bytes of the header's length

uint64_t header_length(const MappedFile& file) {
  uint64_t length = 0;
  for (int i = prefix - 1; i >= 0; --i) length = length << 8 | uint8_t(file.data()[i]);
  return length;
}

[[noreturn]] void truncated(const std::string& path, const char* part, uint64_t wanted,
                            int64_t there) {
  throw DataError(path + " is truncated: its " + part + " should have " + std::to_string(wanted) +
                  " bytes, but " + std::to_string(there) +
                  " are there; copy it again, or use another checkpoint");
}

// Where the data section begins, once the header is known to lie inside the file.
int64_t data_begin(const MappedFile& file, const std::string& expected) {
  const std::string& path = file.path();
  if (file.size() == 0) throw DataError(path + " is empty; expected " + expected);
  const auto foreign = [&](const std::string& why) {
    throw DataError(path + " is not a safetensors file (" + why + "); expected " + expected);
  };
  if (file.size() <= prefix) foreign("it has only " + std::to_string(file.size()) + " bytes");
  const uint64_t length = header_length(file);
  if (length < 2 || length > header_limit || file.data()[prefix] != '{')
    foreign("it does not begin with a header");
  if (length > uint64_t(file.size() - prefix))
    truncated(path, "header", length, file.size() - prefix);
  return prefix + int64_t(length);
}

}  // namespace

int64_t element_size(const std::string& dtype) {
  static const std::map<std::string, int64_t> sizes = {
      {"F64", 8},     {"I64", 8},     {"U64", 8},  {"F32", 4}, {"I32", 4},
      {"U32", 4},     {"F16", 2},     {"BF16", 2}, {"I16", 2}, {"U16", 2},
      {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"I8", 1},   {"U8", 1},  {"BOOL", 1}};
  const auto at = sizes.find(dtype);
  return at == sizes.end() ? 0 : at->second;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t d : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + "]";
}

int64_t TensorInfo::elements() const { return bytes() / element_size(dtype); }

SafetensorsReader::SafetensorsReader(const std::string& path, const std::string& expected)
    : file_(path), data_(data_begin(file_, expected)) {
  try {
    const std::string_view text(file_.data() + prefix, size_t(data_ - prefix));
    SafetensorsHeader header = parse_safetensors_header(text);
    metadata_ = std::move(header.metadata);
    tensors_ = std::move(header.tensors);
    place_tensors();
  } catch (const HeaderError& e) {
    throw DataError(path + " is damaged or not a safetensors file: " + e.what + "; expected " +
                    expected);
  }
}

// Puts the tensors in order of position; together they must be the data section, without gap or
// overlap.
void SafetensorsReader::place_tensors() {
  std::sort(tensors_.begin(), tensors_.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  int64_t at = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].begin != at) throw HeaderError{"its tensors overlap or leave a gap"};
    at = tensors_[i].end;
    index_.emplace(tensors_[i].name, i);
  }
  if (at > data_bytes()) truncated(path(), "data", uint64_t(at), data_bytes());
  if (at < data_bytes())
    throw HeaderError{std::to_string(data_bytes() - at) + " bytes follow its last tensor"};
}

const std::string* SafetensorsReader::metadata(const std::string& key) const {
  const auto at = metadata_.find(key);
  return at == metadata_.end() ? nullptr : &at->second;
}

const TensorInfo* SafetensorsReader::find(const std::string& name) const {
  const auto at = index_.find(name);
  return at == index_.end() ? nullptr : &tensors_[at->second];
}

std::string SafetensorsReader::verified_hash() const {
  constexpr int64_t chunk = 16 << 20;  // what has been read need not stay in memory
  Hasher hasher;
  for (int64_t at = data_; at < file_.size(); at += chunk) {
    const int64_t bytes = std::min(chunk, file_.size() - at);
    hasher.add(file_.data() + at, size_t(bytes));
    file_.forget(at, bytes);
  }
  const std::string hash = hasher.hex();
  const std::string* stored = metadata("xxh3");
  if (stored != nullptr && *stored != hash)
    throw DataError(path() + " is damaged: its data does not have the checksum that was stored " +
                    "with it; copy it again, or use another checkpoint");
  return hash;
}

void check_format_version(const SafetensorsReader& file, int newest) {
  const std::string* text = file.metadata("format_version");
  const bool number = text != nullptr && !text->empty() && text->size() < 10 &&
                      text->find_first_not_of("0123456789") == std::string::npos;
  const int version = number ? std::stoi(*text) : 0;
  if (version < 1)
    throw DataError(file.path() + " is damaged: its metadata gives no format version");
  if (version > newest)
    throw DataError(file.path() + ": format version " + std::to_string(version) +
                    " is newer than this tx reads (" + std::to_string(newest) +
                    "): use a newer tx");
}

}  // namespace tx
