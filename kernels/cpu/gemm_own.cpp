// Our own products on packed panels: weights are packed once, in training at each product.
#include <algorithm>
#include <cstdlib>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/simd.h"
#include "lib/base/first_error.h"

namespace tx::gemm {

const Micro& micro(DType dtype, Isa isa) {
  static const Micro plain[3] = {micro_plain(DType::f32), micro_plain(DType::bf16),
                                 micro_plain(DType::f64)};
  static const Micro avx2[2] = {micro_avx2(DType::f32), micro_avx2(DType::bf16)};
  static const Micro avx512[2] = {micro_avx512(DType::f32), micro_avx512(DType::bf16)};
  static const Micro avx512_bf16 = micro_avx512_bf16(), amx = micro_amx();
  static const Micro neon[2] = {micro_neon(DType::f32), micro_neon(DType::bf16)};
  static const Micro neon_bf16 = micro_neon_bf16();
  const bool half = dtype == DType::bf16;
  if (half && isa >= Isa::neon_bf16 && neon_bf16.rows) return neon_bf16;
  if (dtype != DType::f64 && isa >= Isa::neon && neon[half].rows) return neon[half];
  if (half && isa >= Isa::amx && amx.rows) return amx;
  if (half && isa >= Isa::avx512_bf16 && avx512_bf16.rows) return avx512_bf16;
  if (dtype != DType::f64 && isa >= Isa::avx512 && avx512[half].rows) return avx512[half];
  if (dtype != DType::f64 && isa >= Isa::avx2 && avx2[half].rows) return avx2[half];
  TX_ASSERT(dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f64);
  return plain[int(dtype)];
}

namespace {

// Matrix::prepared points to this; the packed weights follow, unless another object owns them.
struct alignas(64) Packed {
  Panels panels;
  Int8Weights int8;
  size_t room = 0;  // of picked rows: bytes that follow this struct
};

// p without scratch memory; the panels of b are not filled yet.
PanelProduct plan_of(const Product& p, Isa isa) {
  PanelProduct q;
  q.x = p.a, q.bias = p.bias, q.y = p.c;
  q.transposed = p.transpose_a, q.add = p.accumulate, q.relu = p.activation == Activation::relu;
  // Tiles cannot read a transposed operand.
  q.w = panels_of(p.b, !p.transpose_b, micro(p.a.dtype, isa == Isa::amx ? Isa::avx512_bf16 : isa));
  return q;
}

size_t weight_bytes(const Panels& w) { return (size_t(w.count) * w.bytes + 63) / 64 * 64; }

}  // namespace

Matrix pack(Matrix weights, Isa isa) {
  TX_ASSERT(weights.rows > 0 && weights.cols > 0);
  if (weights.prepared) {
    const Panels& panels = static_cast<const Packed*>(weights.prepared)->panels;
    fill_panels(weights, false, panels, const_cast<char*>(static_cast<const char*>(panels.data)),
                1);
    return weights;
  }
  Panels panels = panels_of(weights, false, micro(weights.dtype, isa));
  char* memory = static_cast<char*>(aligned(sizeof(Packed) + weight_bytes(panels)));
  char* data = memory + sizeof(Packed);
  fill_panels(weights, false, panels, data, 1);
  panels.data = data;
  weights.prepared = new (memory) Packed{panels, {}, 0};
  return weights;
}

namespace {

// `bytes` of weights behind a Packed.
Buffer packed_memory(size_t bytes) {
  Buffer memory(aligned(sizeof(Packed) + bytes));
  new (memory.get()) Packed;
  return memory;
}
Packed& packed_of(const Buffer& memory) { return *static_cast<Packed*>(memory.get()); }
char* weights_of(const Buffer& memory) { return reinterpret_cast<char*>(&packed_of(memory) + 1); }

// Takes ownership of the memory.
Matrix packed_matrix(Buffer memory, DType dtype, int64_t rows, int64_t cols) {
  Matrix m = matrix(nullptr, dtype, rows, cols);
  m.prepared = memory.release();
  return m;
}

// Bytes of Int8Weights::fixed.
int64_t fixed_bytes(float input_factor, int64_t rows) { return input_factor > 0 ? 12 * rows : 0; }

Matrix pack_int8(const WeightRows& from, int threads) {
  const int64_t groups = int8_groups(from.rows), bytes = int8_group_bytes(from.cols);
  Buffer memory = packed_memory(
      size_t(groups * bytes + from.rows * 4 + fixed_bytes(from.input_factor, from.rows)));
  auto* data = reinterpret_cast<uint8_t*>(weights_of(memory));
  auto* scales = reinterpret_cast<float*>(data + groups * bytes);
  FirstError failure;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t g = 0; g < groups; g++)
    failure.run([&] { quantise_group(from, g, data + g * bytes, scales + g * kInt8Group); });
  failure.rethrow();
  Int8Weights& w = packed_of(memory).int8;
  w = {data, scales, from.rows, from.cols, from.input_factor};
  fix_inputs(w, scales + from.rows);
  return packed_matrix(std::move(memory), DType::f32, from.rows, from.cols);
}

}  // namespace

Matrix pack(const WeightRows& from, DType dtype, Isa isa, int threads) {
  TX_ASSERT(from.rows > 0 && from.cols > 0);
  if (dtype == DType::i8) return pack_int8(from, threads);
  TX_ASSERT(dtype == DType::f32 || dtype == DType::bf16);
  Matrix shape = matrix(nullptr, dtype, from.rows, from.cols);
  Panels panels = panels_of(shape, false, micro(dtype, isa));
  Buffer memory = packed_memory(weight_bytes(panels));
  char* data = weights_of(memory);
  const int64_t width = panels.micro->panel;
  const ThreadRows<float> read(threads, width * from.cols);
  const ThreadRows<bf16> rounded(threads, dtype == DType::bf16 ? width * from.cols : 0);
  FirstError failure;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t i = 0; i < panels.count; i++)
    failure.run([&] {
      const int64_t rows = std::min(width, from.rows - i * width);
      float* const values = read.mine();
      from.read(i * width, rows, values);
      Matrix part = matrix(values, DType::f32, rows, from.cols);
      if (dtype == DType::bf16) {
        bf16* const halves = rounded.mine();
        for (int64_t j = 0; j < rows * from.cols; j++) store(halves[j], values[j]);
        part = matrix(halves, DType::bf16, rows, from.cols);
      }
      fill_panel(part, false, 0, width, data + size_t(i) * panels.bytes);
    });
  failure.rethrow();
  panels.data = data;
  packed_of(memory).panels = panels;
  return packed_matrix(std::move(memory), dtype, from.rows, from.cols);
}

Matrix attach(const Int8Weights& weights) {
  TX_ASSERT(reinterpret_cast<uintptr_t>(weights.groups) % 64 == 0);
  Buffer memory = packed_memory(size_t(fixed_bytes(weights.input_factor, weights.rows)));
  packed_of(memory).int8 = weights;
  fix_inputs(packed_of(memory).int8, reinterpret_cast<float*>(weights_of(memory)));
  return packed_matrix(std::move(memory), DType::f32, weights.rows, weights.cols);
}

const Int8Weights* int8_of(const Matrix& packed) {
  const auto* p = static_cast<const Packed*>(packed.prepared);
  return p && p->int8.groups ? &p->int8 : nullptr;
}

namespace {

// The rows of a packed matrix, in panels of `width`; a row has one Unit per step of its panel.
struct Lanes {
  const char* from;
  char* to;
  int64_t bytes, width;  // of a panel
};

// Panel `panel` of the picked rows, one pass per panel of the matrix; missing rows become `none`.
template <class Unit>
void pick_panel(const Lanes& p, const int32_t* rows, int64_t count, int64_t panel, Unit none) {
  const int64_t first = panel * p.width, last = std::min(count, first + p.width);
  const int64_t units = p.bytes / (p.width * int64_t(sizeof(Unit)));
  Unit* to = reinterpret_cast<Unit*>(p.to + panel * p.bytes);
  for (int64_t i = first; i < last;) {
    const int64_t source = rows[i] / p.width, begin = i;
    int32_t lanes[kMaxPanel];
    for (; i < last && rows[i] / p.width == source; i++)
      lanes[i - begin] = int32_t(rows[i] % p.width);
    const Unit* from = reinterpret_cast<const Unit*>(p.from + source * p.bytes);
    Unit* target = to + (begin - first);
    for (int64_t u = 0; u < units; u++, from += p.width, target += p.width)
      for (int64_t j = 0; j < i - begin; j++) target[j] = from[lanes[j]];
  }
  for (int64_t u = 0; last < first + p.width && u < units; u++)
    std::fill(to + u * p.width + (last - first), to + (u + 1) * p.width, none);
}

template <class Unit>
void pick_panels(const Lanes& p, const int32_t* rows, int64_t count, Unit none, int threads) {
  const int64_t panels = (count + p.width - 1) / p.width;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1 && panels > 1)
  for (int64_t i = 0; i < panels; i++) pick_panel(p, rows, count, i, none);
}

// A Packed followed by `bytes` bytes: that of earlier picked rows if it is large enough.
Packed& room_for(Matrix& picked, size_t bytes) {
  const auto* held = static_cast<const Packed*>(picked.prepared);
  if (!held || held->room < bytes) {
    release_packed(picked);
    const size_t room = bytes + bytes / 4;
    Buffer memory = packed_memory(room);
    packed_of(memory).room = room;
    picked.prepared = memory.release();
  }
  return *static_cast<Packed*>(const_cast<void*>(picked.prepared));
}

void pick_int8(const Int8Weights& from, const int32_t* rows, int64_t count, Matrix& picked,
               int threads) {
  const int64_t bytes = int8_group_bytes(from.cols), all = int8_groups(count) * bytes;
  Packed& packed =
      room_for(picked, size_t(all + count * 4 + fixed_bytes(from.input_factor, count)));
  char* to = reinterpret_cast<char*>(&packed + 1);
  auto* scales = reinterpret_cast<float*>(to + all);
  const Lanes lanes{reinterpret_cast<const char*>(from.groups), to, bytes, kInt8Group};
  pick_panels(lanes, rows, count, 0x80808080u, threads);  // zeros, see kernels/int8.h
  for (int64_t i = 0; i < count; i++) scales[i] = from.scales[rows[i]];
  Int8Weights& w = packed.int8;
  w = {reinterpret_cast<uint8_t*>(to), scales, count, from.cols, from.input_factor};
  if (from.input_factor == 0) return;
  float* const all_fixed = scales + count;
  w.fixed = {reinterpret_cast<int32_t*>(all_fixed), all_fixed + count, all_fixed + 2 * count};
  for (int64_t i = 0; i < count; i++) {
    w.fixed.starts[i] = from.fixed.starts[rows[i]];
    w.fixed.factors[i] = from.fixed.factors[rows[i]];
    w.fixed.shifts[i] = from.fixed.shifts[rows[i]];
  }
}

void pick_floats(const Matrix& shape, const Panels& from, const int32_t* rows, Matrix& picked,
                 int threads) {
  Panels panels = panels_of(shape, false, *from.micro);
  Packed& packed = room_for(picked, weight_bytes(panels));
  char* to = reinterpret_cast<char*>(&packed + 1);
  panels.data = to;
  const Lanes lanes{from.data, to, int64_t(panels.bytes), from.micro->panel};
  if (shape.dtype == DType::f64)
    pick_panels(lanes, rows, shape.rows, uint64_t(0), threads);
  else
    pick_panels(lanes, rows, shape.rows, uint32_t(0), threads);
  packed.panels = panels;
}

}  // namespace

void pick(const Matrix& from, const int32_t* rows, int64_t count, Matrix& picked, int threads) {
  TX_ASSERT(from.prepared && count > 0);
  TX_ASSERT(std::all_of(rows, rows + count, [&](int32_t r) { return r >= 0 && r < from.rows; }));
  const Packed& packed = *static_cast<const Packed*>(from.prepared);
  const Matrix shape = matrix(nullptr, from.dtype, count, from.cols);
  if (packed.int8.groups)
    pick_int8(packed.int8, rows, count, picked, threads);
  else
    pick_floats(shape, packed.panels, rows, picked, threads);
  const void* prepared = picked.prepared;
  picked = shape;
  picked.prepared = prepared;
}

void release_packed(Matrix& weights) {
  std::free(const_cast<void*>(weights.prepared));
  weights.prepared = nullptr;
}

void packed_product(Matrix x, Matrix packed, Matrix bias, Activation activation, Matrix y,
                    int threads, Scratch& scratch) {
  TX_ASSERT(packed.prepared && x.dtype == packed.dtype && x.cols == packed.cols);
  TX_ASSERT(y.rows == x.rows && y.cols == packed.rows && x.cols <= x.stride && y.cols <= y.stride);
  TX_ASSERT(activation == Activation::none || activation == Activation::relu);
  const bool f64 = x.dtype == DType::f64;
  TX_ASSERT(f64 ? y.dtype == DType::f64 : y.dtype == DType::f32 || y.dtype == DType::bf16);
  TX_ASSERT(bias.empty() || (bias.cols == y.cols && bias.dtype == (f64 ? DType::f64 : DType::f32)));
  PanelProduct p;
  p.x = x, p.bias = bias, p.y = y, p.relu = activation == Activation::relu;
  p.w = static_cast<const Packed*>(packed.prepared)->panels;
  p.scratch = static_cast<char*>(scratch.grow(left_bytes(p, threads)));
  panel_product(p, threads);
}

size_t own_scratch_bytes(const Product& p, Isa isa, int threads) {
  const PanelProduct q = plan_of(p, isa);
  return weight_bytes(q.w) + left_bytes(q, threads);
}

void own_product(const Product& p, Isa isa, int threads, Scratch& scratch) {
  PanelProduct q = plan_of(p, isa);
  char* memory = static_cast<char*>(scratch.grow(weight_bytes(q.w) + left_bytes(q, threads)));
  fill_panels(p.b, !p.transpose_b, q.w, memory, threads);
  q.w.data = memory;
  q.scratch = memory + weight_bytes(q.w);
  panel_product(q, threads);
}

}  // namespace tx::gemm
