#include "kernels/int8.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tx {

Int8Scale int8_scale(float largest) {
  if (!(largest <= std::numeric_limits<float>::max()))
    return {0, std::numeric_limits<float>::quiet_NaN()};
  // The inverse of a smaller value overflows; such weights are negligible.
  if (largest < 1e-30f) return {0, 0};
  return {127 / largest, largest / 127};
}

void quantise_group(const WeightRows& w, int64_t group, uint8_t* to, float* scales) {
  const int64_t first = group * kInt8Group, count = std::min(kInt8Group, w.rows - first);
  std::vector<float> values(size_t(count * w.cols));
  w.read(first, count, values.data());
  std::fill(to, to + int8_group_bytes(w.cols), uint8_t(128));
  for (int64_t r = 0; r < count; r++) {
    const float* row = values.data() + r * w.cols;
    float largest = 0;
    for (int64_t i = 0; i < w.cols; i++) {
      const float size = std::abs(row[i]);
      if (!(size <= largest)) largest = size;  // keeps NaN
      if (std::isnan(largest)) break;
    }
    Int8Scale s = int8_scale(largest);
    const float given = w.scale ? w.scale(first + r) : 0;
    if (given > 0 && largest < 127.5f * given) s = {1 / given, given};
    scales[r] = s.scale;
    for (int64_t i = 0; i < w.cols && s.factor != 0; i++)
      to[i / 4 * 4 * kInt8Group + 4 * r + i % 4] =
          uint8_t(128 + int(std::nearbyint(row[i] * s.factor)));
  }
}

void fix_inputs(Int8Weights& w, float* memory) {
  w.fixed = {};
  if (w.input_factor == 0) return;
  w.fixed = {reinterpret_cast<int32_t*>(memory), memory + w.rows, memory + 2 * w.rows};
  for (int64_t row = 0; row < w.rows; row++) {
    const uint8_t* from =
        w.groups + row / kInt8Group * int8_group_bytes(w.cols) + row % kInt8Group * 4;
    int32_t sum = 0;
    for (int64_t i = 0; i < w.cols; i++) sum += from[i / 4 * 4 * kInt8Group + i % 4] - 128;
    const bool padding = w.scales[row] == 0;
    const float a = w.input_factor, b = w.factors ? w.factors[row] : 1 / w.scales[row];
    const float back = -((127 / a) * (127 / b)) / 127;
    w.fixed.starts[row] = 127 * sum;
    w.fixed.factors[row] = padding ? 0 : 1 / (a * b);
    w.fixed.shifts[row] = padding ? 0 : float(sum) * back;
  }
}

void restore_row(const Int8Weights& w, int64_t output, float* to) {
  const uint8_t* from =
      w.groups + output / kInt8Group * int8_group_bytes(w.cols) + output % kInt8Group * 4;
  const float scale = w.scales[output];
  for (int64_t i = 0; i < w.cols; i++)
    to[i] = scale * float(int(from[i / 4 * 4 * kInt8Group + i % 4]) - 128);
}

}  // namespace tx
