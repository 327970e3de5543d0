// Shared by the attention kernels: the rows of a sentence and head, the keys of a query, dropout
// masks. Two forms of each kernel: tiles for tensor cores (attention_tiles.h) for bf16 heads of up
// to 128 columns, and plain ones (attention_plain.h) for everything else. The choice depends on
// dtype and shape, not on alignment, so that a row has the same bits in every layout.
#pragma once
#include <algorithm>

#include "kernels/cuda/runtime/device.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {

// The rows of one sentence on one side.
struct Span {
  int32_t first;
  int count;
};
TX_DEVICE Span span_of(const int32_t* offsets, int64_t sentence) {
  const int32_t first = offsets[sentence];
  return {first, offsets[sentence + 1] - first};
}

// The same rows in the columns of one head.
template <class T>
struct Rows {
  T* data;
  int64_t stride;
  int count, width;
  TX_DEVICE T* row(int i) const { return data + i * stride; }
};
template <class T>
TX_DEVICE Rows<T> rows_of(const Matrix& m, Span span, int head, int width) {
  return {static_cast<T*>(m.data) + span.first * m.stride + int64_t(head) * width, m.stride,
          span.count, width};
}

// The number of leading keys, of m, that query i of a sentence attends to; without a window.
TX_DEVICE int visible_keys(const Attention& p, int i, int m) {
  return p.causal && i + 1 < m ? i + 1 : m;
}
TX_DEVICE int kv_head_of(const Attention& p, int head) {
  return int(int64_t(head) * p.kv_heads / p.heads);
}

// For bf16 the fast exponential is precise enough.
template <class T>
TX_DEVICE float exponential(float x) {
  return expf(x);
}
template <>
TX_DEVICE float exponential<bf16>(float x) {
  return __expf(x);
}

// Bit j: whether key 8 * block + j is kept. One draw serves 8 keys.
TX_DEVICE uint32_t kept_keys(const Dropout& drop, int64_t row, int block, int head) {
  const MaskBits bits = mask_bits(drop, row, uint32_t(block), head);
  uint32_t kept = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) kept |= uint32_t(bits[j] >= drop.threshold) << j;
  return kept;
}

// The number of blocks per sentence and head (or heads), which alternate over tiles of rows. The
// host knows the number of sentences, not their lengths. More than one block only if there are too
// few sentences to fill the device: idle blocks take time too.
inline unsigned tile_slots(const Cuda::State& s, int64_t sentences, int64_t heads, int64_t rows,
                           int64_t tile) {
  const int64_t wanted = 4 * int64_t(s.processors) / std::max<int64_t>(1, sentences * heads);
  return unsigned(
      std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, std::min(rows / tile, int64_t(64)))));
}

// The ALiBi slope of a head, for scores before scaling.
TX_DEVICE float slope_of(const AttentionShape& p, int head) {
  return p.slopes ? float(p.slopes[head] / p.scale) : 0.f;
}
TX_DEVICE int bucket_of(const DistanceBias& d, int i, int j) {
  return d.bucket[min(max(j - i, -d.reach), d.reach) + d.reach];
}
// The score before scaling of query i and key j, with what depends on their distance.
TX_DEVICE float shifted(const AttentionShape& p, int head, float slope, float score, int i, int j) {
  const DistanceBias& d = p.distances;
  if (d.values) {
    const float* values = static_cast<const float*>(d.values) + head * d.buckets;
    return score + values[bucket_of(d, i, j)] / float(p.scale);
  }
  return fmaf(-slope, float(i > j ? i - j : j - i), score);
}

// Whether the tensor-core kernels support this shape; they support neither windows nor biases.
inline bool takes_tiles(const Attention& p) {
  return p.q.dtype == DType::bf16 && std::max(p.d_k, p.d_v) <= 128 && p.window == 0 && !p.slopes &&
         !p.distances.values;
}

// Any dtype, any width: attention_plain.cu.
void plain_attention(const Cuda::State& s, const Attention& p);
void plain_attention_backward(const Cuda::State& s, const Attention& p, const AttentionGradient& g,
                              float* dots);  // dots: plain_scratch() bytes
size_t plain_scratch(const Cuda::State& s, const Attention& p, const AttentionGradient& g);

}  // namespace tx
