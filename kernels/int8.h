// 8-bit weights for inference: layout, the same in memory and in files (tx-model(5)), and
// quantisation. Symmetric per output channel: w = scale * q, q in -127 .. 127.
#pragma once
#include <cstdint>
#include <functional>

namespace tx {

// A matrix (O,I) is stored in groups of 16 outputs, each [I / 4][16][4] bytes q + 128, the layout
// that VNNI and AMX read. Outputs beyond O and inputs beyond I are 128, that is zero.
constexpr int64_t kInt8Group = 16;  // outputs
constexpr int64_t int8_quads(int64_t inputs) { return (inputs + 3) / 4; }
constexpr int64_t int8_groups(int64_t outputs) { return (outputs + kInt8Group - 1) / kInt8Group; }
constexpr int64_t int8_group_bytes(int64_t inputs) { return int8_quads(inputs) * 4 * kInt8Group; }
constexpr int64_t int8_bytes(int64_t outputs, int64_t inputs) {
  return int8_groups(outputs) * int8_group_bytes(inputs);
}

// For each row of a packed matrix with an input_factor, where Q is the sum of its q.
struct FixedInputs {
  int32_t* starts = nullptr;                    // 127 Q
  float *factors = nullptr, *shifts = nullptr;  // 1 / (input_factor / scale); -127 Q times that
};

// A matrix of such weights; does not own them.
struct Int8Weights {
  const uint8_t* groups = nullptr;  // int8_bytes(rows, cols); 64-byte aligned for products
  const float* scales = nullptr;    // rows
  int64_t rows = 0, cols = 0;       // outputs and inputs
  // The factor from inputs of a product to their q, clamped to -127 .. 127, as in Firefox; 0: each
  // row of the inputs has its own.
  float input_factor = 0;
  const float* factors = nullptr;  // rows: exact inverses of the scales; may be null
  FixedInputs fixed = {};
};

// A matrix on the host, read by rows, as floats.
struct WeightRows {
  int64_t rows = 0, cols = 0;
  // Reads rows first .. first + count - 1 contiguously; thread-safe.
  std::function<void(int64_t first, int64_t count, float* to)> read;
  // If set: the scale of a row that was quantised before, which quantise_group() keeps; 0: none.
  std::function<float(int64_t row)> scale = {};
  float input_factor = 0;  // of Int8Weights
};

// The factor from values of a row to q, and the scale back. `largest`: the largest magnitude. Rows
// of zeros have the scale 0; with NaN or infinity NaN, which propagates.
struct Int8Scale {
  float factor, scale;
};
Int8Scale int8_scale(float largest);

// The group with the outputs 16 * group .. of w: int8_group_bytes(w.cols) and up to 16 scales.
void quantise_group(const WeightRows& w, int64_t group, uint8_t* to, float* scales);
// Computes w.fixed, in memory of 3 * rows numbers, if there is an input_factor. The operations are
// those of intgemm, whose inputs are q + 127, so that Firefox's results have the same rounding.
void fix_inputs(Int8Weights& w, float* memory);
// Dequantises row `output` to `to`, `cols` floats.
void restore_row(const Int8Weights& w, int64_t output, float* to);

}  // namespace tx
