#include "lib/checkpoint/transfer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "lib/base/error.h"

namespace tx {

namespace {

// Elements per chunk: large enough to amortise calls, small enough to stay in the cache.
constexpr int64_t transfer_chunk = 1 << 15;

template <class T>
T load_as(const char* bytes, int64_t i) {  // other programs may write tensors unaligned
  T value;
  std::memcpy(&value, bytes + size_t(i) * sizeof(T), sizeof(T));
  return value;
}

float from_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

template <class T>
void to_values(const char* bytes, const std::string& dtype, int64_t count, T* values) {
  TX_ASSERT(is_floating(dtype));
  if (dtype == "F32")
    for (int64_t i = 0; i < count; ++i) values[i] = T(load_as<float>(bytes, i));
  else if (dtype == "F64")
    for (int64_t i = 0; i < count; ++i) values[i] = T(load_as<double>(bytes, i));
  else
    for (int64_t i = 0; i < count; ++i) values[i] = T(from_bf16(load_as<uint16_t>(bytes, i)));
}

uint16_t to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return uint16_t(bits >> 16 | 0x40);  // rounding could turn NaN into infinity
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace

bool is_floating(const std::string& dtype) {
  return dtype == "F32" || dtype == "F64" || dtype == "BF16";
}

std::string exact_dtype(DType dtype) {
  TX_ASSERT(dtype == DType::f32 || dtype == DType::f64);
  return dtype == DType::f64 ? "F64" : "F32";
}

void to_doubles(const char* bytes, const std::string& dtype, int64_t count, double* values) {
  to_values(bytes, dtype, count, values);
}
void to_floats(const char* bytes, const std::string& dtype, int64_t count, float* values) {
  to_values(bytes, dtype, count, values);
}

void from_doubles(const double* values, int64_t count, const std::string& dtype, char* bytes) {
  TX_ASSERT(is_floating(dtype));
  const auto store = [&](auto convert) {
    for (int64_t i = 0; i < count; ++i) {
      const auto value = convert(values[i]);
      std::memcpy(bytes + size_t(i) * sizeof value, &value, sizeof value);
    }
  };
  if (dtype == "F32")
    store([](double x) { return float(x); });
  else if (dtype == "F64")
    store([](double x) { return x; });
  else
    store([](double x) { return to_bf16(float(x)); });
}

std::vector<int64_t> file_shape(const ParameterEntry& e) {
  return e.vector ? std::vector<int64_t>{e.cols} : std::vector<int64_t>{e.rows, e.cols};
}

TensorSource entry_tensor(const Parameters& parameters, Matrix block, const ParameterEntry& entry,
                          const std::string& name, const std::string& dtype) {
  const Matrix from = parameters.entry_of(block, entry);
  Backend& backend = parameters.backend();
  const auto produce = [=, &backend](const ByteSink& sink) {
    const size_t each = size_of(from.dtype);
    const std::string own = exact_dtype(from.dtype);
    const size_t out_each = size_t(element_size(dtype));
    std::vector<char> host(size_t(transfer_chunk) * each), out(size_t(transfer_chunk) * out_each);
    std::vector<double> values;
    const int64_t count = from.rows * from.cols;
    for (int64_t i = 0; i < count; i += transfer_chunk) {
      const int64_t n = std::min(transfer_chunk, count - i);
      const char* at = static_cast<const char*>(from.data) + size_t(i) * each;
      backend->download(host.data(), at, size_t(n) * each);
      if (own == dtype) {
        sink(host.data(), size_t(n) * each);
        continue;
      }
      values.resize(size_t(n));
      to_doubles(host.data(), own, n, values.data());
      from_doubles(values.data(), n, dtype, out.data());
      sink(out.data(), size_t(n) * out_each);
    }
  };
  return {name, dtype, file_shape(entry), produce};
}

TensorSource float_tensor(const ParameterEntry& entry, const WeightRows& rows,
                          const std::string& dtype) {
  const auto produce = [=](const ByteSink& sink) {
    const int64_t max = std::max<int64_t>(1, transfer_chunk / entry.cols);
    std::vector<float> values(size_t(max * entry.cols));
    std::vector<char> bytes(values.size() * size_t(element_size(dtype)));
    for (int64_t first = 0; first < entry.rows; first += max) {
      const int64_t count = std::min(max, entry.rows - first) * entry.cols;
      rows.read(first, count / entry.cols, values.data());
      const std::vector<double> wide(values.begin(), values.begin() + count);
      from_doubles(wide.data(), count, dtype, bytes.data());
      sink(bytes.data(), size_t(count * element_size(dtype)));
    }
  };
  return {entry.name, dtype, file_shape(entry), produce};
}

void load_entry(const SafetensorsReader& file, const TensorInfo& tensor,
                const Parameters& parameters, Matrix block, const ParameterEntry& entry) {
  TX_ASSERT(tensor.shape == file_shape(entry));
  const Matrix to = parameters.entry_of(block, entry);
  const std::string own = exact_dtype(to.dtype);
  const size_t each = size_of(to.dtype);
  const int64_t count = to.rows * to.cols, padded = entry.padded_rows * entry.cols;
  std::vector<double> values(static_cast<size_t>(transfer_chunk));
  std::vector<char> host(size_t(transfer_chunk) * each);
  char* at = static_cast<char*>(to.data);
  for (int64_t i = 0; i < count; i += transfer_chunk) {
    const int64_t n = std::min(transfer_chunk, count - i);
    const char* from = file.data(tensor) + i * element_size(tensor.dtype);
    if (own != tensor.dtype) {
      to_doubles(from, tensor.dtype, n, values.data());
      from_doubles(values.data(), n, own, host.data());
      from = host.data();
    }
    parameters.backend()->upload(at + size_t(i) * each, from, size_t(n) * each);
  }
  if (padded > count)
    parameters.backend()->zero(at + size_t(count) * each, size_t(padded - count) * each);
}

namespace {

// 8-bit weights of a tensor. The scales are copied: other programs may write them unaligned.
struct Mapped {
  Int8Weights weights;
  std::vector<float> scales;
};

void copy_scales(const SafetensorsReader& file, const ParameterEntry& e, float* to) {
  const TensorInfo& t = *file.find(scale_name(e));
  std::memcpy(to, file.data(t), size_t(t.bytes()));
  std::fill(to + e.rows, to + e.padded_rows, 0.0f);
}

const uint8_t* groups_of(const SafetensorsReader& file, const ParameterEntry& e) {
  return reinterpret_cast<const uint8_t*>(file.data(*file.find(e.name)));
}

WeightRows restored_rows(const SafetensorsReader& file, const ParameterEntry& e) {
  auto mapped = std::make_shared<Mapped>();
  mapped->scales.resize(size_t(e.padded_rows));
  copy_scales(file, e, mapped->scales.data());
  mapped->weights = {groups_of(file, e), mapped->scales.data(), e.padded_rows, e.cols};
  return {e.padded_rows, e.cols, [mapped](int64_t first, int64_t count, float* to) {
            for (int64_t i = 0; i < count; ++i, to += mapped->weights.cols)
              restore_row(mapped->weights, first + i, to);
          }};
}

}  // namespace

bool is_quantised(const ParameterEntry& e) {
  return !e.vector && !e.lookup && (e.multiplied || e.init == ParameterEntry::Init::embedding);
}

std::string scale_name(const ParameterEntry& entry) { return entry.name + ".scale"; }

std::vector<int64_t> int8_shape(const ParameterEntry& e) {
  return {int8_groups(e.padded_rows), int8_quads(e.cols), kInt8Group, 4};
}

std::vector<TensorSource> int8_tensors(const ParameterEntry& entry, const WeightRows& rows) {
  const auto produce = [rows](const ByteSink& groups, const ByteSink& scales) {
    std::vector<uint8_t> bytes(size_t(int8_group_bytes(rows.cols)));
    float scale[kInt8Group];
    for (int64_t g = 0; g < int8_groups(rows.rows); ++g) {
      quantise_group(rows, g, bytes.data(), scale);
      groups(bytes.data(), bytes.size());
      scales(scale, 4 * size_t(std::min(kInt8Group, rows.rows - g * kInt8Group)));
    }
  };
  const ByteSink nowhere = [](const void*, size_t) {};
  const int64_t own = entry.rows;
  return {{entry.name, "U8", int8_shape(entry),
           [=](const ByteSink& sink) { produce(sink, nowhere); }, 64},
          {scale_name(entry), "F32", {own}, [=](const ByteSink& sink) {
             size_t left = size_t(own) * 4;  // without the padding
             produce(nowhere, [&](const void* data, size_t bytes) {
               sink(data, std::min(left, bytes));
               left -= std::min(left, bytes);
             });
           }}};
}

WeightRows rows_of_tensor(const SafetensorsReader& file, const ParameterEntry& e) {
  const TensorInfo& t = *file.find(e.name);
  if (t.dtype == "U8") return restored_rows(file, e);
  return {e.padded_rows, e.cols, [&file, &t, e](int64_t first, int64_t count, float* to) {
            const int64_t own = std::clamp<int64_t>(e.rows - first, 0, count);
            to_floats(file.data(t) + first * e.cols * element_size(t.dtype), t.dtype, own * e.cols,
                      to);
            std::fill(to + own * e.cols, to + count * e.cols, 0.0f);
          }};
}

Int8Weights mapped_int8(const SafetensorsReader& file, std::span<const ParameterEntry> joined,
                        std::vector<float>& scales) {
  const uint8_t* const groups = groups_of(file, joined.front());
  const uint8_t* next = groups;
  int64_t rows = 0;
  for (const ParameterEntry& e : joined) {
    const bool whole = rows % kInt8Group == 0 && file.find(e.name)->dtype == "U8";
    if (!whole || groups_of(file, e) != next) return {};
    next += int8_bytes(e.padded_rows, e.cols);
    rows += e.padded_rows;
  }
  if (reinterpret_cast<uintptr_t>(groups) % 64 != 0) return {};
  scales.resize(size_t(rows));
  float* to = scales.data();
  for (const ParameterEntry& e : joined) copy_scales(file, e, to), to += e.padded_rows;
  return {groups, scales.data(), rows, joined.front().cols};
}

}  // namespace tx
