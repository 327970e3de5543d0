#include "lib/checkpoint/int8_tensors.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "lib/base/error.h"
#include "lib/checkpoint/transfer.h"

namespace tx {

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
