// The gated activations of the feed-forward layer, and rotary positions.
#include "kernels/cuda/rows/activation.h"
#include "kernels/cuda/rows/pass.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

template <class T>
constexpr int rows_at_once = sizeof(T) == 2 ? 2 : 1;

// y = dropout(f(gate) * up); a pass over y.
template <class T, Activation f>
struct Gate {
  static constexpr int at_once = rows_at_once<T>;
  struct Loaded {
    Octet<T> gate, up;
    RowMask mask;
  };
  Matrix x, y;
  Dropout drop;
  bool packed;

  TX_DEVICE void load(int64_t i, int64_t column, int count, Loaded& in) const {
    in.gate = read_octet(row_of<T>(x, i) + column, count, packed);
    in.up = read_octet(row_of<T>(x, i) + y.cols + column, count, packed);
    in.mask.read(drop, i);
  }
  TX_DEVICE void finish(int64_t i, int64_t column, int count, const Loaded& in,
                        float (&value)[octet]) const {
#pragma unroll
    for (int j = 0; j < octet; ++j) value[j] = activated<f>(in.gate[j]) * in.up[j];
    in.mask.apply(drop, column, value);
    write_octet(row_of<T>(y, i) + column, count, packed, octet_of<T>(value));
  }
};

// A pass over dy. dx may be x: a thread reads and writes both halves of its features.
template <class T, Activation f>
struct GateBackward {
  static constexpr int at_once = rows_at_once<T>;
  struct Loaded {
    Octet<T> dy, gate, up;
    RowMask mask;
  };
  Matrix dy, x, dx;
  Dropout drop;
  bool packed;

  TX_DEVICE void load(int64_t i, int64_t column, int count, Loaded& in) const {
    in.dy = read_octet(row_of<T>(dy, i) + column, count, packed);
    in.gate = read_octet(row_of<T>(x, i) + column, count, packed);
    in.up = read_octet(row_of<T>(x, i) + dy.cols + column, count, packed);
    in.mask.read(drop, i);
  }
  TX_DEVICE void finish(int64_t i, int64_t column, int count, const Loaded& in,
                        float (&value)[octet]) const {
    spread(in.dy, value);
    in.mask.apply(drop, column, value);
    float gate[octet], up[octet];
#pragma unroll
    for (int j = 0; j < octet; ++j) {
      gate[j] = value[j] * in.up[j] * activation_slope<f>(in.gate[j]);
      up[j] = value[j] * activated<f>(in.gate[j]);
    }
    T* to = row_of<T>(dx, i) + column;
    write_octet(to, count, packed, octet_of<T>(gate));
    write_octet(to + dy.cols, count, packed, octet_of<T>(up));
  }
};

struct Rotation {
  Matrix x, table;
  int width;
  float sign;
  const uint32_t* positions;
};

// A thread rotates one pair of columns of every head.
template <class T>
__global__ void rotate_rows(Rotation p) {
  const int64_t half = p.width / 2, at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t i = at / half, j = at % half;
  if (i >= p.x.rows) return;
  const float* angle = row_of<float>(p.table, p.positions[i]);
  const float c = angle[j], s = p.sign * angle[half + j];
  for (int64_t first = j; first < p.x.cols; first += p.width) {
    T *a = row_of<T>(p.x, i) + first, *b = a + half;
    const float u = load(*a), v = load(*b);
    store(*a, u * c - v * s);
    store(*b, v * c + u * s);
  }
}

// Host: whether both halves of a row can be moved in packs.
bool halves_packed(const Matrix& wide, int64_t half) {
  return all_packed(wide) && half % octet == 0;
}

template <class F>
void with_gate(Activation activation, F&& f) {
  TX_ASSERT(is_gated(activation));
  using enum Activation;
  if (activation == swiglu) return f(std::integral_constant<Activation, silu>{});
  if (activation == geglu) return f(std::integral_constant<Activation, gelu>{});
  f(std::integral_constant<Activation, gelu_tanh>{});
}

}  // namespace

void Cuda::gate(Matrix x, Activation activation, const Dropout& drop, Matrix y) {
  const Timed timed(*state_, "pointwise", traffic(x, y));
  TX_ASSERT(x.cols == 2 * y.cols);
  const bool packed = all_packed(y) && halves_packed(x, y.cols);
  with_type(x.dtype, [&](auto t) {
    with_gate(activation, [&](auto f) {
      const Gate<decltype(t), decltype(f)::value> op{x, y, drop, packed};
      pass(*state_, op, y.rows, y.cols);
    });
  });
}

void Cuda::gate_backward(Matrix dy, Matrix x, Activation activation, const Dropout& drop, Matrix dx,
                         Matrix dbias, bool add_bias) {
  {
    const Timed timed(*state_, "pointwise", traffic(dy, x, dx));
    TX_ASSERT(x.cols == 2 * dy.cols && dx.cols == x.cols);
    const bool packed = all_packed(dy) && halves_packed(x, dy.cols) && halves_packed(dx, dy.cols);
    with_type(dy.dtype, [&](auto t) {
      with_gate(activation, [&](auto f) {
        const GateBackward<decltype(t), decltype(f)::value> op{dy, x, dx, drop, packed};
        pass(*state_, op, dy.rows, dy.cols);
      });
    });
  }
  if (!dbias.empty()) column_sum(dx, dbias, add_bias);
}

void Cuda::rotate(Matrix x, int width, Matrix table, const uint32_t* positions, bool back) {
  const Timed timed(*state_, "pointwise", traffic(x, x));
  TX_ASSERT(width % 2 == 0 && x.cols % width == 0 && table.cols == width);
  if (x.rows == 0) return;
  constexpr int threads = 256;
  const Rotation p{x, table, width, back ? -1.0f : 1.0f, positions};
  const unsigned blocks = blocks_of(x.rows * (width / 2), threads);
  with_type(x.dtype,
            [&](auto t) { launch(*state_, rotate_rows<decltype(t)>, blocks, threads, 0, p); });
}

}  // namespace tx
