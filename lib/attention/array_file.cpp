#include <algorithm>
#include <bit>

#include "lib/attention/output.h"
#include "lib/base/json.h"
#include "lib/checkpoint/safetensors.h"

namespace tx {

namespace {

struct Array {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

template <class T>
void append(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// The arrays of one record, in the order of the file. For alignment, arrays of 4-byte elements
// precede those of 2, and the JSON text is padded to a multiple of 8 bytes.
class RecordArrays {
 public:
  RecordArrays(const AttentionRecord& record, const Selection& selection,
               const DumpOptions& options)
      : record_(record), selection_(selection), options_(options) {
    if (!record.blank()) add_arrays();
    add_head();
  }
  std::vector<Array> take() { return std::move(arrays_); }

 private:
  void add_arrays() {
    if (selection_.log_p) add_labels();
    for (const Quantity quantity : selection_.what)
      for (size_t kind = 0; kind < selection_.kinds.size(); ++kind) {
        const std::string name =
            std::string(name_of_value(quantity)) + "." + name_of(selection_.kinds[kind].kind);
        if (selection_.top > 0)
          add_top(name, record_.of(quantity)[kind]);
        else
          add_maps(name, record_.of(quantity)[kind], quantity != Quantity::output);
      }
    std::stable_sort(arrays_.begin(), arrays_.end(), [](const Array& a, const Array& b) {
      return element_size(a.dtype) > element_size(b.dtype);
    });
  }

  Array& add(const std::string& name, const std::string& dtype, std::vector<int64_t> shape) {
    return arrays_.emplace_back(
        Array{std::to_string(record_.line) + "." + name, dtype, std::move(shape), {}});
  }

  void add_labels() {
    const auto count = int64_t(record_.log_p.size());
    append(add("log_p", "F32", {count}).bytes, record_.log_p);
    if (selection_.words) return;
    const std::vector<int32_t> ranks(record_.rank.begin(), record_.rank.end());
    append(add("rank", "I32", {count}).bytes, ranks);
  }

  void append_floats(std::string& bytes, const std::vector<float>& values) const {
    if (options_.dtype == "f32") return append(bytes, values);
    std::vector<uint16_t> halves(values.size());
    for (size_t i = 0; i < values.size(); ++i) halves[i] = to_half(values[i]);
    append(bytes, halves);
  }
  std::string dtype() const { return options_.dtype == "f32" ? "F32" : "F16"; }

  void add_maps(const std::string& name, const AttentionMaps& maps, bool heads) {
    const AttentionMap& first = maps.front().front();
    std::vector<int64_t> shape = {int64_t(maps.size())};
    if (heads) shape.push_back(int64_t(maps.front().size()));
    shape.insert(shape.end(), {first.rows, first.columns});
    Array& array = add(name, dtype(), shape);
    for (const auto& layer : maps)
      for (const AttentionMap& map : layer) append_floats(array.bytes, map.values);
  }

  void add_top(const std::string& name, const AttentionMaps& maps) {
    std::string indices, values;
    std::vector<int64_t> shape;
    for (const auto& layer : maps)
      for (const AttentionMap& map : layer) {
        const TopEntries top = top_of_rows(map, selection_.top);
        shape = {int64_t(maps.size()), int64_t(layer.size()), top.rows, top.columns};
        append(indices, top.indices);
        append_floats(values, top.values);
      }
    add(name + ".indices", "I32", shape).bytes = std::move(indices);
    add(name + ".values", dtype(), shape).bytes = std::move(values);
  }

  void add_head() {
    std::string text = to_text(record_head(record_, selection_));
    size_t bytes = text.size();
    for (const Array& array : arrays_) bytes += array.bytes.size();
    text.append((8 - bytes % 8) % 8, ' ');
    const auto size = int64_t(text.size());
    add("record", "U8", {size}).bytes = std::move(text);
  }

  const AttentionRecord& record_;
  const Selection& selection_;
  const DumpOptions& options_;
  std::vector<Array> arrays_;
};

// Line n has arrays named "n.*"; "n.record" holds the bytes of its JSON record without arrays.
class ArrayFile : public AttentionOutput {
 public:
  ArrayFile(const DumpOptions& options, const Selection& selection)
      : options_(options),
        selection_(selection),
        file_(options.out, {{"format", "tx-attention"}, {"format_version", "1"}}) {}
  Write prepare(const AttentionRecord& record) override {
    return [this, arrays = RecordArrays(record, selection_, options_).take()] {
      for (const Array& a : arrays) file_.add(a.name, a.dtype, a.shape, a.bytes);
    };
  }
  void finish() override { file_.close(); }

 private:
  const DumpOptions& options_;
  const Selection& selection_;
  SafetensorsSpool file_;
};

}  // namespace

std::unique_ptr<AttentionOutput> make_array_file(const DumpOptions& options,
                                                 const Selection& selection) {
  return std::make_unique<ArrayFile>(options, selection);
}

uint16_t to_half(float x) {
  const uint32_t all = std::bit_cast<uint32_t>(x);
  const auto sign = uint16_t(all >> 16 & 0x8000);
  const uint32_t size = all & 0x7FFFFFFF;
  if (size > 0x7F800000) return uint16_t(sign | 0x7E00);   // NaN
  if (size >= 0x47800000) return uint16_t(sign | 0x7C00);  // 2^16 or more
  if (size < 0x38800000) {  // subnormal, below 2^-14: adding 0.5 rounds to their unit, 2^-24
    const float shifted = std::bit_cast<float>(size) + 0.5f;
    return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)));
  }
  const uint32_t to_even = 0xFFF + (size >> 13 & 1);
  return uint16_t(sign | ((size + to_even - 0x38000000) >> 13));
}

}  // namespace tx
