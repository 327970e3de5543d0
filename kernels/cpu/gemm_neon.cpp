// The innermost loops of our own products for ARM64: fp32 by FMA, bf16 by BFMMLA, or widened to
// fp32 without it, and 8-bit weights by USMMLA, SDOT or widening multiplication.
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#ifdef __linux__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <utility>

#define TX_BF16 __attribute__((target("arch=armv8.2-a+bf16")))
#define TX_DOTPROD __attribute__((target("arch=armv8.2-a+dotprod")))
#define TX_I8MM __attribute__((target("arch=armv8.2-a+i8mm")))
#define TX_UNROLL _Pragma("GCC unroll 16")

namespace tx::gemm {
namespace {

constexpr int kPanel = 16, kVectors = 4;  // columns; registers of 4 floats
using Rows = std::make_integer_sequence<int, kMaxRows>;

template <int R>
TX_INLINE void load_tile(const float* from, bool add, float32x4_t (&sum)[R][kVectors]) {
  TX_UNROLL for (int r = 0; r < R; r++) TX_UNROLL for (int v = 0; v < kVectors; v++) sum[r][v] =
      add ? vld1q_f32(from + r * kPanel + 4 * v) : vdupq_n_f32(0);
}
template <int R>
TX_INLINE void store_tile(const float32x4_t (&sum)[R][kVectors], float* to) {
  TX_UNROLL for (int r = 0; r < R; r++) TX_UNROLL for (int v = 0; v < kVectors; v++)
      vst1q_f32(to + r * kPanel + 4 * v, sum[r][v]);
}
template <int R>
TX_INLINE void add_products(Left left, const float32x4_t* right, float32x4_t (&sum)[R][kVectors]) {
  TX_UNROLL for (int r = 0; r < R; r++) {
    const float x = *reinterpret_cast<const float*>(left.data + r * left.row_step);
    TX_UNROLL for (int v = 0; v < kVectors; v++) sum[r][v] = vfmaq_n_f32(sum[r][v], right[v], x);
  }
}

template <int R>
void f32_neon(Left left, const void* panel, int64_t k, void* tile, bool add) {
  const float* b = static_cast<const float*>(panel);
  float32x4_t sum[R][kVectors];
  load_tile(static_cast<const float*>(tile), add, sum);
  for (int64_t i = 0; i < k; i++, left.data += left.k_step, b += kPanel) {
    float32x4_t right[kVectors];
    TX_UNROLL for (int v = 0; v < kVectors; v++) right[v] = vld1q_f32(b + 4 * v);
    add_products(left, right, sum);
  }
  store_tile(sum, static_cast<float*>(tile));
}

// The even k of a pair are the low halves of its words, the odd ones the high halves.
template <int R>
void bf16_neon(Left left, const void* panel, int64_t k, void* tile, bool add) {
  const uint32_t* b = static_cast<const uint32_t*>(panel);
  float32x4_t sum[R][kVectors];
  load_tile(static_cast<const float*>(tile), add, sum);
  for (int64_t i = 0; i < k; i += 2, b += kPanel) {
    float32x4_t right[kVectors];
    TX_UNROLL for (int v = 0; v < kVectors; v++) right[v] =
        vreinterpretq_f32_u32(vshlq_n_u32(vld1q_u32(b + 4 * v), 16));
    add_products(left, right, sum);
    left.data += left.k_step;
    if (i + 1 == k) break;
    TX_UNROLL for (int v = 0; v < kVectors; v++) right[v] =
        vreinterpretq_f32_u32(vandq_u32(vld1q_u32(b + 4 * v), vdupq_n_u32(0xffff0000u)));
    add_products(left, right, sum);
    left.data += left.k_step;
  }
  store_tile(sum, static_cast<float*>(tile));
}

TX_INLINE uint32_t load_bytes(const char* from, int count) {
  uint32_t bytes = 0;
  std::memcpy(&bytes, from, size_t(count));
  return bytes;
}

// Row i of pair p of R rows; the second row of an odd last pair is the first once more.
template <int R>
TX_INLINE int row(int p, int i) {
  return 2 * p + i < R ? 2 * p + i : 2 * p;
}

// Adds the products of 4 k. BFMMLA multiplies 2 rows by 2 columns: sum[p][c] holds rows 2 p and
// 2 p + 1 of columns 2 c and 2 c + 1, row by row. `first` and `second`: bytes of the two pairs of k
// of a row that exist; a last k without a pair must not be read as one.
template <int R, int first, int second>
TX_BF16 TX_INLINE void add_four(Left left, const uint32_t* b,
                                float32x4_t (&sum)[(R + 1) / 2][2 * kVectors]) {
  bfloat16x8_t x[(R + 1) / 2];
  TX_UNROLL for (int p = 0; p < (R + 1) / 2; p++) {
    const char* even = left.data + row<R>(p, 0) * left.row_step;
    const char* odd = left.data + row<R>(p, 1) * left.row_step;
    x[p] = vreinterpretq_bf16_u32(
        uint32x4_t{load_bytes(even, first), load_bytes(even + left.k_step, second),
                   load_bytes(odd, first), load_bytes(odd + left.k_step, second)});
  }
  TX_UNROLL for (int v = 0; v < kVectors; v++) {
    const uint32x4_t low = vld1q_u32(b + 4 * v);
    const uint32x4_t high = second ? vld1q_u32(b + kPanel + 4 * v) : vdupq_n_u32(0);
    const auto two = vreinterpretq_bf16_u32(vzip1q_u32(low, high));
    const auto other = vreinterpretq_bf16_u32(vzip2q_u32(low, high));
    TX_UNROLL for (int p = 0; p < (R + 1) / 2; p++) {
      sum[p][2 * v] = vbfmmlaq_f32(sum[p][2 * v], x[p], two);
      sum[p][2 * v + 1] = vbfmmlaq_f32(sum[p][2 * v + 1], x[p], other);
    }
  }
}

template <int R>
TX_BF16 void dot_neon(Left left, const void* panel, int64_t k, void* tile, bool add) {
  constexpr int pairs = (R + 1) / 2;
  const uint32_t* b = static_cast<const uint32_t*>(panel);
  float* out = static_cast<float*>(tile);
  float32x4_t sum[pairs][2 * kVectors];
  TX_UNROLL for (int p = 0; p < pairs; p++) TX_UNROLL for (int c = 0; c < 2 * kVectors; c++) {
    if (add)
      sum[p][c] = vcombine_f32(vld1_f32(out + row<R>(p, 0) * kPanel + 2 * c),
                               vld1_f32(out + row<R>(p, 1) * kPanel + 2 * c));
    else
      sum[p][c] = vdupq_n_f32(0);
  }
  int64_t i = 0;
  for (; i + 4 <= k; i += 4, left.data += 2 * left.k_step, b += 2 * kPanel)
    add_four<R, 4, 4>(left, b, sum);
  if (k - i == 1) add_four<R, 2, 0>(left, b, sum);
  if (k - i == 2) add_four<R, 4, 0>(left, b, sum);
  if (k - i == 3) add_four<R, 4, 2>(left, b, sum);
  TX_UNROLL for (int p = 0; p < pairs; p++) TX_UNROLL for (int c = 0; c < 2 * kVectors; c++) {
    vst1_f32(out + 2 * p * kPanel + 2 * c, vget_low_f32(sum[p][c]));
    if (2 * p + 1 < R) vst1_f32(out + (2 * p + 1) * kPanel + 2 * c, vget_high_f32(sum[p][c]));
  }
}

template <int... R>
Micro neon(bool half, std::integer_sequence<int, R...>) {
  if (!half) return {"NEON", kPanel, sizeof...(R), {f32_neon<R + 1>...}};
  return {"NEON",  kPanel,  sizeof...(R),        {bf16_neon<R + 1>...},
          nullptr, nullptr, {f32_neon<R + 1>...}};
}
template <int... R>
Micro neon_bf16(std::integer_sequence<int, R...>) {
  return {"NEON BF16", kPanel, sizeof...(R), {dot_neon<R + 1>...}};
}

// -- 8-bit weights: 64 bytes of a group are 16 outputs, 4 inputs each.

TX_INLINE int8x16_t load_signed(const uint8_t* w) {  // q from q + 128
  return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(w), vdupq_n_u8(128)));
}

// Two quads of inputs, or one. Products of 8 bits fit 16 bits even as sums of two, and those are
// added to 32 bits in pairs. A row of the left operand is padded with zeros to 64 bytes.
template <int R, bool both>
TX_INLINE void add_quads(const char* a, int64_t step, const uint8_t* w, int32x4_t (&sum)[R][8]) {
  int8x16_t x[R][2];
  TX_UNROLL for (int r = 0; r < R; r++) TX_UNROLL for (int i = 0; i < 2; i++) x[r][i] =
      vreinterpretq_s8_u32(vdupq_n_u32(load_bytes(a + r * step + 4 * i, 4)));
  TX_UNROLL for (int v = 0; v < 4; v++) {
    const int8x16_t first = load_signed(w + 16 * v);
    const int8x16_t second = both ? load_signed(w + 64 + 16 * v) : vdupq_n_s8(0);
    TX_UNROLL for (int r = 0; r < R; r++) {
      const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(first), vget_low_s8(x[r][0])),
                                     vget_low_s8(second), vget_low_s8(x[r][1]));
      const int16x8_t high = vmlal_high_s8(vmull_high_s8(first, x[r][0]), second, x[r][1]);
      sum[r][2 * v] = vpadalq_s16(sum[r][2 * v], low);
      sum[r][2 * v + 1] = vpadalq_s16(sum[r][2 * v + 1], high);
    }
  }
}
template <int R>
void int8_neon(const Int8Left& left, const Int8Right& right, int32_t* tile) {
  int32x4_t sum[R][8] = {};
  const char* a = left.data;
  const uint8_t* w = right.groups;
  for (int64_t k = 0; k < right.quads / 2; k++, a += 8, w += 128)
    add_quads<R, true>(a, left.step, w, sum);
  if (right.quads % 2) add_quads<R, false>(a, left.step, w, sum);
  TX_UNROLL for (int r = 0; r < R; r++) TX_UNROLL for (int v = 0; v < 4; v++)
      vst1q_s32(tile + r * 16 + 4 * v, vpaddq_s32(sum[r][2 * v], sum[r][2 * v + 1]));
}

template <int R>
TX_DOTPROD void int8_dotprod(const Int8Left& left, const Int8Right& right, int32_t* tile) {
  int32x4_t sum[R][4] = {};
  const char* a = left.data;
  const uint8_t* w = right.groups;
  for (int64_t k = 0; k < right.quads; k++, a += 4, w += 64) {
    int8x16_t weights[4];
    TX_UNROLL for (int v = 0; v < 4; v++) weights[v] = load_signed(w + 16 * v);
    TX_UNROLL for (int r = 0; r < R; r++) {
      const int8x16_t x = vreinterpretq_s8_u32(vdupq_n_u32(load_bytes(a + r * left.step, 4)));
      TX_UNROLL for (int v = 0; v < 4; v++) sum[r][v] = vdotq_s32(sum[r][v], weights[v], x);
    }
  }
  TX_UNROLL for (int r = 0; r < R; r++) TX_UNROLL for (int v = 0; v < 4; v++)
      vst1q_s32(tile + r * 16 + 4 * v, sum[r][v]);
}

// Two quads of inputs, or one. USMMLA: sum[p][c] holds outputs 2 c and 2 c + 1 of rows 2 p and 2 p
// + 1. left.start takes the offset of the stored weights back.
template <int R, bool both>
TX_I8MM TX_INLINE void add_eights(const int8_t* a, int64_t step, const uint8_t* w,
                                  int32x4_t (&sum)[(R + 1) / 2][8]) {
  int8x16_t x[(R + 1) / 2];
  TX_UNROLL for (int p = 0; p < (R + 1) / 2; p++) x[p] =
      vcombine_s8(vld1_s8(a + row<R>(p, 0) * step), vld1_s8(a + row<R>(p, 1) * step));
  TX_UNROLL for (int v = 0; v < 4; v++) {
    const uint32x4_t low = vreinterpretq_u32_u8(vld1q_u8(w + 16 * v));
    const uint32x4_t high = both ? vreinterpretq_u32_u8(vld1q_u8(w + 64 + 16 * v)) : vdupq_n_u32(0);
    const uint8x16_t two = vreinterpretq_u8_u32(vzip1q_u32(low, high));
    const uint8x16_t other = vreinterpretq_u8_u32(vzip2q_u32(low, high));
    TX_UNROLL for (int p = 0; p < (R + 1) / 2; p++) {
      sum[p][2 * v] = vusmmlaq_s32(sum[p][2 * v], two, x[p]);
      sum[p][2 * v + 1] = vusmmlaq_s32(sum[p][2 * v + 1], other, x[p]);
    }
  }
}
template <int R>
TX_I8MM void int8_i8mm(const Int8Left& left, const Int8Right& right, int32_t* tile) {
  int32x4_t sum[(R + 1) / 2][8] = {};
  const auto* a = reinterpret_cast<const int8_t*>(left.data);
  const uint8_t* w = right.groups;
  for (int64_t k = 0; k < right.quads / 2; k++, a += 8, w += 128)
    add_eights<R, true>(a, left.step, w, sum);
  if (right.quads % 2) add_eights<R, false>(a, left.step, w, sum);
  TX_UNROLL for (int p = 0; p < (R + 1) / 2; p++) TX_UNROLL for (int v = 0; v < 4; v++) {
    const int32x4_t even = vuzp1q_s32(sum[p][2 * v], sum[p][2 * v + 1]);
    const int32x4_t odd = vuzp2q_s32(sum[p][2 * v], sum[p][2 * v + 1]);
    int32_t* to = tile + 2 * p * 16 + 4 * v;
    vst1q_s32(to, vaddq_s32(even, vdupq_n_s32(left.start[2 * p])));
    if (2 * p + 1 < R) vst1q_s32(to + 16, vaddq_s32(odd, vdupq_n_s32(left.start[2 * p + 1])));
  }
}

template <int... R>
Int8Micro dotprod(std::integer_sequence<int, R...>) {
  return {"NEON DOTPROD", sizeof...(R), 1, false, {{int8_dotprod<R + 1>}...}, nullptr};
}
template <int... R>
Int8Micro i8mm(std::integer_sequence<int, R...>) {
  return {"NEON I8MM", sizeof...(R), 1, false, {{int8_i8mm<R + 1>}...}, nullptr};
}

// What the processor has beyond ARMv8.0, within isa_limit().
struct Features {
  bool dotprod = false, i8mm = false, bf16 = false;
};
Features find_features() {
  Features f;
#ifdef __linux__
  const IsaLimit limit = isa_limit();
  const unsigned long more = getauxval(AT_HWCAP2);
  f.dotprod = limit >= IsaLimit::dotprod && (getauxval(AT_HWCAP) & HWCAP_ASIMDDP);
  f.i8mm = limit >= IsaLimit::i8mm && (more & HWCAP2_I8MM);
  f.bf16 = limit >= IsaLimit::arm_bf16 && (more & HWCAP2_BF16);
#endif
  return f;
}
const Features& features() {
  static const Features all = find_features();
  return all;
}

}  // namespace

Isa best_isa() { return features().bf16 ? Isa::neon_bf16 : Isa::neon; }
Int8Isa best_int8_isa() {
  return features().i8mm ? Int8Isa::i8mm : features().dotprod ? Int8Isa::dotprod : Int8Isa::neon;
}

Micro micro_neon(DType dtype) { return neon(dtype == DType::bf16, Rows()); }
Micro micro_neon_bf16() { return neon_bf16(Rows()); }
Int8Micro int8_micro_neon() {
  return {"NEON", 2, 1, false, {{int8_neon<1>}, {int8_neon<2>}}, nullptr};
}
Int8Micro int8_micro_dotprod() { return dotprod(Rows()); }
Int8Micro int8_micro_i8mm() { return i8mm(Rows()); }

}  // namespace tx::gemm

#else

namespace tx::gemm {

Micro micro_neon(DType) { return {}; }
Micro micro_neon_bf16() { return {}; }
Int8Micro int8_micro_neon() { return {}; }
Int8Micro int8_micro_dotprod() { return {}; }
Int8Micro int8_micro_i8mm() { return {}; }

}  // namespace tx::gemm

#endif
