// The optimizer over flat blocks of f32. Learning rate, clip factor and skip flag are in the step
// record, so that the host need not wait for them.
#include <algorithm>

#include "kernels/cuda/runtime/device.h"
#include "kernels/cuda/runtime/octet.h"
#include "kernels/cuda/runtime/profile.h"
#include "kernels/cuda/runtime/state.h"

namespace tx {
namespace {

constexpr int threads = 256;
constexpr int per = 4;             // elements per pack: 16 bytes of f32
constexpr int norm_threads = 256;  // a thread takes 16 packs of a norm_block

// Elements first .. first + per - 1 of a flat block of `count`; what lies beyond is zero.
template <bool packed>
TX_DEVICE Pack<float, per> read(const float* x, int64_t first, int64_t count) {
  if (packed && first + per <= count) return *reinterpret_cast<const Pack<float, per>*>(x + first);
  Pack<float, per> pack{};
#pragma unroll
  for (int j = 0; j < per; ++j)
    if (first + j < count) pack.at[j] = x[first + j];
  return pack;
}

template <bool packed, class T>
TX_DEVICE void write(T* x, const Pack<T, per>& pack, int64_t first, int64_t count) {
  if (packed && first + per <= count) {
    *reinterpret_cast<Pack<T, per>*>(x + first) = pack;
    return;
  }
#pragma unroll
  for (int j = 0; j < per; ++j)
    if (first + j < count) x[first + j] = pack.at[j];
}

// sums[b] = the sum of squares of norm_block b, in double: large gradients would overflow a float.
template <bool packed>
__global__ void add_squares(const float* g, int64_t count, double* sums) {
  __shared__ double part[32];
  const int64_t base = int64_t(blockIdx.x) * norm_block;
  double sum = 0;
#pragma unroll 4
  for (int n = 0; n < norm_block / (per * norm_threads); ++n) {
    const int64_t first = base + (int64_t(n) * norm_threads + threadIdx.x) * per;
    const Pack<float, per> x = read<packed>(g, first, count);
#pragma unroll
    for (int j = 0; j < per; ++j) sum = fma(double(x.at[j]), double(x.at[j]), sum);
  }
  sum = block_sum(sum, part);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// One block: computes gradient norm and clip factor, and whether to skip the update.
__global__ void decide(const double* sums, int64_t count, StepRecord* record) {
  __shared__ double part[32];
  double sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) sum += sums[i];
  sum = block_sum(sum, part);
  if (threadIdx.x != 0) return;
  const double norm = sqrt(sum);
  record->gradient_norm = norm;
  const double loss = record->loss * record->loss_scale;
  const bool usable = isfinite(norm) && isfinite(loss);
  const bool spike = usable && record->loss_limit > 0 && loss > record->loss_limit;
  record->spike = spike ? 1 : 0;
  record->skip = usable && !spike ? 0 : 1;
  const bool clips = record->clip_norm > 0 && norm > record->clip_norm;
  record->clip_factor = clips ? record->clip_norm / norm : 1.0;
}

// One update as kernels need it, in single precision.
struct Step {
  float beta1, beta2, rest1, rest2;  // rest = 1 - beta, computed in double
  float epsilon, rate, decay, clip, correct1, correct2;
};

// The flat blocks of one update; m and v are null for sgd, copy if there are no bf16 weights.
struct Blocks {
  float* w;
  const float* g;
  float *m, *v;
  bf16* copy;
  int64_t count, decayed;
};

TX_DEVICE Step resolve(const AdamSettings& s, const StepRecord& record, bool adam) {
  Step step;
  step.beta1 = float(s.beta1);
  step.beta2 = float(s.beta2);
  step.rest1 = float(1 - s.beta1);
  step.rest2 = float(1 - s.beta2);
  step.epsilon = float(s.epsilon);
  step.rate = float(record.rate);
  step.decay = float(s.weight_decay);
  step.clip = float(record.clip_factor);
  step.correct1 = step.correct2 = 1;
  if (adam) {
    step.correct1 = float(1 / (1 - pow(s.beta1, double(record.step))));
    step.correct2 = float(1 / (1 - pow(s.beta2, double(record.step))));
  }
  return step;
}

// Kingma and Ba 2015, algorithm 1, with decoupled weight decay (Loshchilov and Hutter 2019).
TX_DEVICE float adam_move(const Step& s, float g, float& m, float& v) {
  m = fmaf(s.beta1, m, s.rest1 * g);
  v = fmaf(s.beta2, v, s.rest2 * g * g);
  return m * s.correct1 / (sqrtf(v * s.correct2) + s.epsilon);
}

// A grid that fills the device goes over the blocks once: 30 bytes per element with the copy.
template <bool adam, bool packed>
__global__ void update(Blocks b, float scale, AdamSettings settings, const StepRecord* record) {
  if (record->skip) return;
  __shared__ Step shared;
  if (threadIdx.x == 0) {
    shared = resolve(settings, *record, adam);
    if (scale != 0) shared.clip = scale;
  }
  __syncthreads();
  const Step s = shared;
  const int64_t stride = int64_t(gridDim.x) * blockDim.x * per;
  int64_t first = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * per;
  for (; first < b.count; first += stride) {
    const Pack<float, per> g = read<packed>(b.g, first, b.count);
    Pack<float, per> w = read<packed>(b.w, first, b.count), m{}, v{};
    if constexpr (adam) {
      m = read<packed>(b.m, first, b.count);
      v = read<packed>(b.v, first, b.count);
    }
    Pack<bf16, per> copy;
#pragma unroll
    for (int j = 0; j < per; ++j) {
      const float clipped = g.at[j] * s.clip;
      float move = clipped;
      if constexpr (adam) move = adam_move(s, clipped, m.at[j], v.at[j]);
      const float decay = first + j < b.decayed ? s.decay : 0;
      w.at[j] = fmaf(-s.rate, fmaf(decay, w.at[j], move), w.at[j]);
      store(copy.at[j], w.at[j]);
    }
    write<packed>(b.w, w, first, b.count);
    if constexpr (adam) {
      write<packed>(b.m, m, first, b.count);
      write<packed>(b.v, v, first, b.count);
    }
    if (b.copy) write<packed>(b.copy, copy, first, b.count);
  }
}

bool aligned(const Matrix& m) {
  return reinterpret_cast<uintptr_t>(m.data) % (per * size_of(m.dtype)) == 0;
}

template <bool adam>
void launch_update(const Cuda::State& state, Matrix parameters, Matrix gradients, Matrix m,
                   Matrix v, double scale, Matrix copy, int64_t decayed,
                   const AdamSettings& settings, const StepRecord* record) {
  TX_ASSERT(parameters.dtype == DType::f32 && gradients.dtype == DType::f32);
  Blocks b{};
  b.w = parameters.row<float>(0);
  b.g = gradients.row<float>(0);
  b.m = m.empty() ? nullptr : m.row<float>(0);
  b.v = v.empty() ? nullptr : v.row<float>(0);
  b.copy = copy.empty() ? nullptr : copy.row<bf16>(0);
  b.count = parameters.rows * parameters.cols;
  b.decayed = decayed;
  bool packed = true;
  for (const Matrix& x : {parameters, gradients, m, v, copy}) packed = packed && aligned(x);
  const unsigned blocks =
      std::min(blocks_of(b.count, threads * per), unsigned(state.processors * 8));
  launch(state, packed ? update<adam, true> : update<adam, false>, dim3(blocks), threads, 0, b,
         float(scale), settings, record);
}

// The elements of a grid-stride loop.
TX_DEVICE int64_t first_element() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
TX_DEVICE int64_t all_threads() { return int64_t(gridDim.x) * blockDim.x; }
unsigned filling(const Cuda::State& state, int64_t count) {
  return std::min(blocks_of(count, threads), unsigned(state.processors * 8));
}

__global__ void average(const float* g, float* m, float* direction, float factor, float rest,
                        int64_t count, const StepRecord* record) {
  if (record->skip) return;
  const float clip = float(record->clip_factor);
  for (int64_t i = first_element(); i < count; i += all_threads()) {
    const float now = rest * (g[i] * clip);
    m[i] = fmaf(factor, m[i], now);
    direction[i] = fmaf(factor, m[i], now);
  }
}

__global__ void divide_by_norm(float* x, int64_t count, const double* sums, int64_t blocks) {
  double sum = 0;
  for (int64_t b = 0; b < blocks; ++b) sum += sums[b];
  const float factor = sum > smallest_square ? float(1 / sqrt(sum)) : 0;
  for (int64_t i = first_element(); i < count; i += all_threads()) x[i] *= factor;
}

template <class T>
__global__ void add_terms(Matrix x, Matrix square, float a, float b, float c) {
  for (int64_t at = first_element(); at < x.rows * x.cols; at += all_threads()) {
    const int64_t i = at / x.cols, j = at % x.cols;
    T& value = row_of<T>(x, i)[j];
    const float sum = fmaf(b, load(value), c * load(row_of<T>(square, i)[j]));
    store(value, i == j ? sum + a : sum);
  }
}

}  // namespace

void Cuda::square_sums(Matrix gradients, Matrix squares) {
  const Timed timed(*state_, "optimizer", traffic(gradients));
  TX_ASSERT(gradients.dtype == DType::f32 && squares.dtype == DType::f64);
  const int64_t count = gradients.rows * gradients.cols, blocks = norm_blocks(count);
  TX_ASSERT(squares.cols == blocks);
  launch(*state_, aligned(gradients) ? add_squares<true> : add_squares<false>,
         dim3(unsigned(blocks)), norm_threads, 0, gradients.row<float>(0), count,
         squares.row<double>(0));
}

void Cuda::gradient_norm(Matrix squares, StepRecord* record) {
  const Timed timed(*state_, "optimizer", traffic(squares));
  launch(*state_, decide, dim3(1), 256, 0, squares.row<double>(0), squares.cols, record);
}

void Cuda::adam(Matrix parameters, Matrix gradients, Matrix m, Matrix v, Matrix copy,
                int64_t decayed, const AdamSettings& settings, const StepRecord* record) {
  const Timed timed(*state_, "optimizer",
                    traffic(parameters, parameters, gradients, m, m, v, v, copy));
  launch_update<true>(*state_, parameters, gradients, m, v, 0, copy, decayed, settings, record);
}

void Cuda::sgd(Matrix parameters, Matrix gradients, double scale, Matrix copy, int64_t decayed,
               const AdamSettings& settings, const StepRecord* record) {
  const Timed timed(*state_, "optimizer", traffic(parameters, parameters, gradients, copy));
  launch_update<false>(*state_, parameters, gradients, {}, {}, scale, copy, decayed, settings,
                       record);
}

void Cuda::momentum(Matrix gradients, Matrix m, Matrix direction, double factor,
                    const StepRecord* record) {
  const Timed timed(*state_, "optimizer", traffic(gradients, m, m, direction));
  const int64_t count = m.rows * m.cols;
  launch(*state_, average, dim3(filling(*state_, count)), threads, 0, gradients.row<float>(0),
         m.row<float>(0), direction.row<float>(0), float(factor), float(1 - factor), count, record);
}

void Cuda::normalise(Matrix x, Matrix squares) {
  const Timed timed(*state_, "optimizer", traffic(x, x, squares));
  const int64_t count = x.rows * x.cols;
  launch(*state_, divide_by_norm, dim3(filling(*state_, count)), threads, 0, x.row<float>(0), count,
         squares.row<double>(0), squares.cols);
}

void Cuda::quadratic(Matrix x, Matrix square, double a, double b, double c) {
  const Timed timed(*state_, "optimizer", traffic(x, x, square));
  with_type(x.dtype, [&](auto t) {
    launch(*state_, add_terms<decltype(t)>, dim3(filling(*state_, x.rows * x.cols)), threads, 0, x,
           square, float(a), float(b), float(c));
  });
}

}  // namespace tx
