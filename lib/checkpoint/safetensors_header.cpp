// A header is read event by event instead of into a tree: anything not exactly of the form
//   {"__metadata__": {KEY: STRING, ...},
//    NAME: {"dtype": STRING, "shape": [N, ...], "data_offsets": [N, N]}, ...}
// stops the parser at once, so nesting never grows, and a key that occurs twice is seen (a tree
// silently keeps one of them).
#include "lib/checkpoint/safetensors_header.h"

#include <set>

#include "lib/base/json.h"

namespace tx {

namespace {

constexpr size_t max_dimensions = 16;
constexpr int64_t max_bytes = int64_t(1) << 60;  // keeps sums and products of sizes in range

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
    throw HeaderError{"its header is no JSON at byte " + std::to_string(byte)};
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

  // Names come from outside: escaped and cut, so that a message stays one readable line.
  static std::string shown(const std::string& name) { return to_text(Json(name.substr(0, 100))); }

  [[noreturn]] void refuse() const {
    throw HeaderError{"its header is malformed" + (key_.empty() ? "" : " near " + shown(key_))};
  }

  Place place_ = Place::start;
  std::string key_;
  std::set<std::string> names_, fields_;
  std::vector<int64_t> offsets_;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text) {
  HeaderParser parser;
  Json::sax_parse(text.begin(), text.end(), &parser);
  return std::move(parser.header);
}

}  // namespace tx
