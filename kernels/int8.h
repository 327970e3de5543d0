// 8-bit weights, for inference: their layout, which files share (tx-model(5)), and how they are
// made. Symmetric per output channel: w = scale * q, q in -127 .. 127.
#pragma once
#include <cstdint>
#include <functional>

namespace tx {

// A matrix (O,I) is groups of 16 outputs, in each [I / 4][16][4] bytes q + 128, which VNNI and AMX
// read as they are. Outputs beyond O and inputs beyond I are 128, which is zero.
constexpr int64_t kInt8Group = 16;  // outputs
constexpr int64_t int8_quads(int64_t inputs) { return (inputs + 3) / 4; }
constexpr int64_t int8_groups(int64_t outputs) { return (outputs + kInt8Group - 1) / kInt8Group; }
constexpr int64_t int8_group_bytes(int64_t inputs) { return int8_quads(inputs) * 4 * kInt8Group; }
constexpr int64_t int8_bytes(int64_t outputs, int64_t inputs) {
  return int8_groups(outputs) * int8_group_bytes(inputs);
}

// A matrix of such weights that somebody else owns.
struct Int8Weights {
  const uint8_t* groups = nullptr;  // int8_bytes(rows, cols); products want them 64-byte aligned
  const float* scales = nullptr;    // rows
  int64_t rows = 0, cols = 0;       // outputs and inputs
};

// A matrix on the host that is read by rows, as floats.
struct WeightRows {
  int64_t rows = 0, cols = 0;
  // Rows first .. first + count - 1, one behind another; several threads may call it at once.
  std::function<void(int64_t first, int64_t count, float* to)> read;
};

// The factor from the values of a row to their q, and the scale that undoes it. `largest` is that
// of their magnitudes. Zeros have the scale 0, a row with a value that is not finite has the scale
// NaN, so that everything made of it shows it.
struct Int8Scale {
  float factor, scale;
};
Int8Scale int8_scale(float largest);

// The group with the outputs 16 * group .. of w: int8_group_bytes(w.cols) and up to 16 scales.
void quantise_group(const WeightRows& w, int64_t group, uint8_t* to, float* scales);
// Row `output` as floats; `to` has room for `cols`.
void restore_row(const Int8Weights& w, int64_t output, float* to);

}  // namespace tx
