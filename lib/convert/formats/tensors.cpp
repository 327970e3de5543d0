#include "lib/convert/formats/tensors.h"

#include <bit>
#include <cmath>

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/checkpoint/transfer.h"

namespace tx {

namespace {

constexpr int64_t max_elements = int64_t(1) << 48;
constexpr size_t max_dimensions = 16;
constexpr float global_scale = 1000;  // of 16 bits, in models of CTranslate2 that state none

std::vector<int64_t> row_major(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

void to_floats_of(const ForeignTensor& t, int64_t element, int64_t count, float* to) {
  const char* from = t.bytes.data() + element * element_size(t.dtype);
  if (t.dtype != "F16") return to_floats(from, t.dtype, count, to);
  for (int64_t i = 0; i < count; ++i)
    to[i] = from_half(uint16_t(little_endian({from + 2 * i, 2}, 2)));
}

}  // namespace

float from_half(uint16_t bits) {
  const uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = bits >> 10 & 31,
                 fraction = bits & 0x3FF;
  if (exponent == 0) {
    const float value = std::ldexp(float(fraction), -24);
    return sign != 0 ? -value : value;
  }
  const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

int64_t ForeignTensor::elements() const {
  int64_t count = 1;
  for (const int64_t d : shape) count *= d;
  return count;
}

std::string_view ByteReader::take(uint64_t count) {
  if (count > rest_.size()) damaged("it is truncated");
  const std::string_view bytes = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return bytes;
}

void ByteReader::damaged(const std::string& why) const {
  throw DataError(where_ + " is damaged or not " + what_ + ": " + why);
}

void ForeignTensors::add(const std::string& name, ForeignTensor t) {
  const auto refuse = [&](const std::string& why) {
    throw DataError(where_ + ": tensor " + shown(name) + " " + why);
  };
  if (!t.block && element_size(t.dtype) == 0) refuse("has the unknown dtype " + shown(t.dtype));
  if (t.shape.size() > max_dimensions) refuse("has too many dimensions");
  int64_t count = 1;
  for (const int64_t d : t.shape)
    if (d < 0 || __builtin_mul_overflow(count, d, &count) || count > max_elements)
      refuse("has an invalid shape");
  if (t.strides.empty())  // of an empty tensor they may overflow, and are not used
    t.strides = count > 0 ? row_major(t.shape) : std::vector<int64_t>(t.shape.size(), 0);
  if (t.strides.size() != t.shape.size()) refuse("has strides that do not match its shape");
  int64_t last = 0;  // offset of the last element
  for (size_t i = 0; i < t.shape.size() && count > 0; ++i) {
    int64_t reach = 0;
    if (t.strides[i] < 0 || __builtin_mul_overflow(t.shape[i] - 1, t.strides[i], &reach) ||
        reach > max_elements - last)
      refuse("has invalid strides");
    last += reach;
  }
  if (t.block && (t.shape.empty() || t.shape.back() % t.block->elements != 0))
    refuse("has rows that are not whole blocks of " + std::string(t.block->name));
  const auto size = int64_t(t.bytes.size());
  const int64_t there =
      t.block ? size / t.block->bytes * t.block->elements : size / element_size(t.dtype);
  if (count > 0 && last >= there)
    refuse("of shape " + shape_text(t.shape) + " needs more than the " + std::to_string(there) +
           " elements of its data");
  if (!tensors_.emplace(name, std::move(t)).second) refuse("is listed twice");
}

const ForeignTensor* ForeignTensors::find(const std::string& name) const {
  const auto at = tensors_.find(name);
  return at == tensors_.end() ? nullptr : &at->second;
}

const ForeignTensor& ForeignTensors::at(const std::string& name) const {
  const ForeignTensor* tensor = find(name);
  if (tensor == nullptr) throw DataError(where_ + " has no tensor " + name);
  return *tensor;
}

WeightRows ForeignTensors::rows(const std::string& name, const std::vector<int64_t>& shape) const {
  const ForeignTensor& t = at(name);
  size_t leading = 0;
  while (t.shape.size() - leading > shape.size() && t.shape[leading] == 1) ++leading;
  const std::vector<int64_t> own(t.shape.begin() + ptrdiff_t(leading), t.shape.end());
  if (own != shape)
    throw DataError(where_ + ": " + name + " has shape " + shape_text(t.shape) +
                    ", but the configuration requires " + shape_text(shape));
  if (!t.block && !is_floating(t.dtype) && t.dtype != "F16")
    throw DataError(where_ + ": " + name + " is " + t.dtype +
                    "; weights must be F32, F16, BF16 or F64");
  const int64_t rows = own.size() < 2 ? 1 : own[0], cols = own.empty() ? 1 : own.back();
  if (t.block)
    return {rows, cols, [&t, cols](int64_t first, int64_t count, float* to) {
              const QuantisedBlock& block = *t.block;
              for (int64_t i = first * cols; i < (first + count) * cols; i += block.elements) {
                block.read(t.bytes.data() + i / block.elements * block.bytes, to);
                to += block.elements;
              }
            }};
  const int64_t down = own.size() < 2 ? 0 : t.strides[leading];
  const int64_t across = own.empty() ? 1 : t.strides.back();
  return {rows, cols, [&t, cols, down, across](int64_t first, int64_t count, float* to) {
            for (int64_t row = first; row < first + count; ++row) {
              if (across == 1) {
                to_floats_of(t, row * down, cols, to);
                to += cols;
                continue;
              }
              for (int64_t i = 0; i < cols; ++i) to_floats_of(t, row * down + i * across, 1, to++);
            }
          }};
}

WeightRows ForeignTensors::scaled_rows(const std::string& name,
                                       const std::vector<int64_t>& shape) const {
  const ForeignTensor& t = at(name);
  if (t.dtype[0] != 'I' || shape.size() != 2) return rows(name, shape);
  const auto refuse = [&](const std::string& why) {
    throw DataError(where_ + ": " + name + " " + why);
  };
  if (t.shape != shape)
    refuse("has shape " + shape_text(t.shape) + ", but the model requires " + shape_text(shape));
  if (t.elements() == 0) refuse("is empty");  // but may have any number of rows
  const auto width = size_t(element_size(t.dtype));
  if (width > 2) refuse("has 32-bit whole numbers, which are not supported");
  std::vector<float> scales(size_t(shape[0]), global_scale);
  if (const ForeignTensor* const scale = find(name + "_scale")) {
    const int64_t count = scale->elements();
    if (count != 1 && count != shape[0]) refuse("has no scale for each row");
    rows(name + "_scale", scale->shape).read(0, 1, scales.data());
    if (count == 1) std::fill(scales.begin(), scales.end(), scales[0]);
  } else if (width == 1) {
    refuse("has no scales");
  }
  for (const float scale : scales)
    if (!(scale > 0) || !std::isfinite(scale)) refuse("has a scale that is not positive");
  const int64_t cols = shape[1];
  WeightRows out{shape[0], cols, {}};
  if (width == 1) out.scale = [scales](int64_t row) { return 1 / scales[size_t(row)]; };
  out.read = [=, scales = std::move(scales), bytes = t.bytes](int64_t first, int64_t count,
                                                              float* to) {
    for (int64_t i = first * cols; i < (first + count) * cols; ++i) {
      const uint64_t bits = little_endian(bytes.substr(size_t(i) * width), width);
      const int whole = width == 1 ? int8_t(bits) : int16_t(bits);
      *to++ = float(whole) / scales[size_t(i / cols)];
    }
  };
  return out;
}

}  // namespace tx
