#include "lib/checkpoint/safetensors.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "lib/base/error.h"
#include "lib/base/json.h"

namespace tx {

namespace {

constexpr uint64_t header_limit = 100'000'000;  // the format's own
constexpr int64_t prefix = 8;                   // bytes of the header's length
constexpr size_t max_dimensions = 16;
constexpr int64_t max_bytes = int64_t(1) << 60;  // keeps sums and products of sizes in range

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  // in the header's order; begin <= end, which match the shape
  std::map<std::string, std::string> metadata;
};

// Why a header is unusable; the caller adds the file's name.
struct HeaderError {
  std::string what;
};

// Reads a header event by event: the parser stops at anything that does not have exactly the form
//   {"__metadata__": {KEY: STRING, ...},
//    NAME: {"dtype": STRING, "shape": [N, ...], "data_offsets": [N, N]}, ...}
// so nesting never grows, and duplicate keys are detected (a tree silently keeps one of them).
class HeaderParser : public Json::json_sax_t {
 public:
  SafetensorsHeader header;

  bool start_object(size_t) override {
    if (place_ == Place::start) return go(Place::names);
    if (place_ == Place::metadata) return go(Place::metadata_keys);
    if (place_ != Place::tensor) refuse();
    fields_.clear();
    return go(Place::fields);
  }

  bool key(string_t& text) override {
    key_ = text;
    if (place_ == Place::names) return name();
    if (place_ == Place::metadata_keys) {
      if (!header.metadata.emplace(key_, "").second) throw HeaderError{"it repeats " + shown(key_)};
      return go(Place::metadata_value);
    }
    if (!fields_.insert(key_).second) refuse();
    if (key_ == "dtype") return go(Place::dtype);
    if (key_ == "shape") return go(Place::shape);
    if (key_ == "data_offsets") return go(Place::offsets);
    refuse();
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata_value) {
      header.metadata[key_] = text;
      return go(Place::metadata_keys);
    }
    if (place_ != Place::dtype) refuse();
    if (element_size(text) == 0)
      throw HeaderError{"tensor " + shown(tensor().name) + " has the unknown dtype " + shown(text)};
    tensor().dtype = text;
    return go(Place::fields);
  }

  bool start_array(size_t) override {
    if (place_ == Place::shape) return go(Place::dimensions);
    if (place_ != Place::offsets) refuse();
    offsets_.clear();
    return go(Place::offset_values);
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (value > uint64_t(max_bytes)) refuse();
    if (place_ != Place::dimensions && place_ != Place::offset_values) refuse();
    std::vector<int64_t>& list = place_ == Place::dimensions ? tensor().shape : offsets_;
    list.push_back(int64_t(value));
    if (list.size() > max_dimensions) refuse();
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offset_values) {
      if (offsets_.size() != 2 || offsets_[0] > offsets_[1]) refuse();
      tensor().begin = offsets_[0];
      tensor().end = offsets_[1];
    }
    return go(Place::fields);
  }

  bool end_object() override {
    if (place_ == Place::names) return go(Place::end);
    if (place_ == Place::fields) check_tensor();
    return go(Place::names);
  }

  bool null() override { refuse(); }
  bool boolean(bool) override { refuse(); }
  bool number_integer(number_integer_t) override { refuse(); }
  bool number_float(number_float_t, const string_t&) override { refuse(); }
  bool binary(binary_t&) override { refuse(); }
  bool parse_error(size_t byte, const std::string&, const nlohmann::detail::exception&) override {
    throw HeaderError{"its header is not JSON at byte " + std::to_string(byte)};
  }

 private:
  enum class Place {
    start,
    names,
    metadata,
    metadata_keys,
    metadata_value,
    tensor,
    fields,
    dtype,
    shape,
    dimensions,
    offsets,
    offset_values,
    end
  };

  bool go(Place place) {
    place_ = place;
    return true;
  }

  TensorInfo& tensor() { return header.tensors.back(); }

  bool name() {
    if (!names_.insert(key_).second) throw HeaderError{"it repeats " + shown(key_)};
    if (key_ == "__metadata__") return go(Place::metadata);
    header.tensors.emplace_back().name = key_;
    return go(Place::tensor);
  }

  void check_tensor() {
    if (fields_.size() != 3) refuse();
    const TensorInfo& t = tensor();
    int64_t bytes = element_size(t.dtype);
    for (const int64_t d : t.shape)
      if (__builtin_mul_overflow(bytes, d, &bytes) || bytes > max_bytes) bytes = -1;
    if (bytes != t.bytes())
      throw HeaderError{"tensor " + shown(t.name) + " of shape " + shape_text(t.shape) + " has " +
                        std::to_string(t.bytes()) + " bytes"};
  }

  // Names are untrusted: escaped and shortened, so that a message stays one readable line.

  [[noreturn]] void refuse() const {
    throw HeaderError{"its header is malformed" + (key_.empty() ? "" : " near " + shown(key_))};
  }

  Place place_ = Place::start;
  std::string key_;
  std::set<std::string> names_, fields_;
  std::vector<int64_t> offsets_;
};

// Throws HeaderError. Memory is bounded by a small multiple of the text, time by text x log(text).
SafetensorsHeader parse_header(std::string_view text) {
  HeaderParser parser;
  Json::sax_parse(text.begin(), text.end(), &parser);
  return std::move(parser.header);
}

uint64_t header_length(const MappedFile& file) {
  uint64_t length = 0;
  for (int i = prefix - 1; i >= 0; --i) length = length << 8 | uint8_t(file.data()[i]);
  return length;
}

[[noreturn]] void truncated(const std::string& path, const char* part, uint64_t wanted,
                            int64_t there) {
  throw DataError(path + " is truncated: its " + part + " should have " + std::to_string(wanted) +
                  " bytes but has " + std::to_string(there) +
                  "; copy it again, or use another checkpoint");
}

// The offset of the data section; checks that the header ends inside the file.
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
    SafetensorsHeader header = parse_header(text);
    metadata_ = std::move(header.metadata);
    tensors_ = std::move(header.tensors);
    place_tensors();
  } catch (const HeaderError& e) {
    throw DataError(path + " is damaged or not a safetensors file: " + e.what + "; expected " +
                    expected);
  }
}

// Sorts the tensors by position; together they must fill the data section without gap or overlap.
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

std::string SafetensorsReader::hash() const {
  constexpr int64_t chunk = 16 << 20;  // pages are released once read
  Hasher hasher;
  for (int64_t at = data_; at < file_.size(); at += chunk) {
    const int64_t bytes = std::min(chunk, file_.size() - at);
    hasher.add(file_.data() + at, size_t(bytes));
    file_.forget(at, bytes);
  }
  return hasher.hex();
}

std::string SafetensorsReader::verified_hash() const {
  verified_ = hash();
  const std::string* stored = metadata("xxh3");
  if (stored != nullptr && *stored != verified_)
    throw DataError(path() +
                    " is damaged: its data does not match the stored checksum; copy it again" +
                    ", or use another checkpoint");
  return verified_;
}

void SafetensorsReader::check_unchanged() const {
  file_.check_unchanged([&] { return hash() == verified_; });
}

void check_format_version(const SafetensorsReader& file, int newest) {
  const std::string* text = file.metadata("format_version");
  const bool number = text != nullptr && !text->empty() && text->size() < 10 &&
                      text->find_first_not_of("0123456789") == std::string::npos;
  const int version = number ? std::stoi(*text) : 0;
  if (version < 1) throw DataError(file.path() + " is damaged: its metadata has no format version");
  if (version > newest)
    throw DataError(file.path() + ": format version " + std::to_string(version) +
                    " is newer than this tx reads (" + std::to_string(newest) +
                    "): use a newer tx");
}

}  // namespace tx
