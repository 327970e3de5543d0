// The gated activations of the feed-forward layer, and rotary positions.

#include "kernels/cpu.h"
#include "kernels/cpu/activation.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/profile.h"
#include "kernels/cpu/random.h"

namespace tx {
namespace {

// Calls f with the function of a gate as a type.
template <class F>
TX_INLINE void with_gate(Activation function, F&& f) {
  if (function == Activation::silu) return f(ActivationType<Activation::silu>{});
  if (function == Activation::gelu) return f(ActivationType<Activation::gelu>{});
  f(ActivationType<Activation::gelu_tanh>{});
}

template <Activation f, class T>
TX_INLINE void gate_row(const T* x, const uint16_t* bits, const Dropout& drop, T* y,
                        int64_t width) {
  const T* up = x + width;
  with_mask<acc_t<T>>(drop, bits, [=](auto kept) TX_INLINE_LAMBDA {
    for (int64_t j = 0; j < width; ++j)
      store(y[j], kept(j, activated<f>(load(x[j])) * load(up[j])));
  });
}

template <class T>
TX_CLONES void gate_rows(Matrix in, Activation activation, const Dropout& drop, Matrix out,
                         int threads) {
  const MaskRows masks(drop, out.cols, threads);
#pragma omp parallel num_threads(threads)
  {
    const MaskRow mask = masks.mine();
#pragma omp for
    for (int64_t i = 0; i < out.rows; ++i) {
      const T* x = in.row<T>(i);
      T* y = out.row<T>(i);
      const uint16_t* bits = mask.draw(i);
      with_gate(activation, [&](auto f) TX_INLINE_LAMBDA {
        gate_row<decltype(f)::value>(x, bits, drop, y, out.cols);
      });
    }
  }
}

// dx may be x: both halves of a feature are read before they are written.
template <Activation f, class T>
TX_INLINE void gate_backward_row(const T* dy, const T* x, const uint16_t* bits, const Dropout& drop,
                                 T* dx, int64_t width) {
  using A = acc_t<T>;
  with_mask<A>(drop, bits, [=](auto kept) TX_INLINE_LAMBDA {
    for (int64_t j = 0; j < width; ++j) {
      const A g = kept(j, load(dy[j])), gate = load(x[j]), up = load(x[width + j]);
      store(dx[j], g * up * activation_slope<f>(gate));
      store(dx[width + j], g * activated<f>(gate));
    }
  });
}

template <class T>
TX_CLONES void gate_backward_rows(Matrix dy, Matrix in, Activation activation, const Dropout& drop,
                                  Matrix out, int threads) {
  const MaskRows masks(drop, dy.cols, threads);
#pragma omp parallel num_threads(threads)
  {
    const MaskRow mask = masks.mine();
#pragma omp for
    for (int64_t i = 0; i < dy.rows; ++i) {
      const T *g = dy.row<T>(i), *x = in.row<T>(i);
      T* dx = out.row<T>(i);
      const uint16_t* bits = mask.draw(i);
      with_gate(activation, [&](auto f) TX_INLINE_LAMBDA {
        gate_backward_row<decltype(f)::value>(g, x, bits, drop, dx, dy.cols);
      });
    }
  }
}

template <class L, class T>
TX_INLINE void rotate_row(T* row, int64_t cols, int64_t width, const acc_t<T>* angle,
                          acc_t<T> sign) {
  const int64_t half = width / 2;
  for (T *a = row, *b = row + half; a < row + cols; a += width, b += width)
    for_lanes<L>(half, [&](int64_t j, auto zero) TX_INLINE_LAMBDA {
      using V = decltype(zero);
      const V u = load_lanes<V>(a + j), v = load_lanes<V>(b + j);
      const V c = load_lanes<V>(angle + j), s = load_lanes<V>(angle + half + j) * sign;
      put_lanes<L>(a + j, V(u * c - v * s));
      put_lanes<L>(b + j, V(v * c + u * s));
    });
}

template <class T>
void rotate_rows(Matrix x, int64_t width, Matrix table, const uint32_t* positions, bool back,
                 int threads) {
  using A = acc_t<T>;
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < x.rows; ++i)
    with_lanes<A>([&](auto lanes) TX_INLINE_LAMBDA {
      rotate_row<decltype(lanes)>(x.row<T>(i), x.cols, width, table.row<A>(positions[i]),
                                  back ? A(-1) : A(1));
    });
}

}  // namespace

void Cpu::gate(Matrix x, Activation activation, const Dropout& drop, Matrix y) {
  TX_ASSERT(is_gated(activation) && x.cols == 2 * y.cols);
  const Timed timed(profile_.get(), "pointwise", traffic(x, y));
  with_type(x.dtype, [&](auto t) {
    gate_rows<decltype(t)>(x, gate_function(activation), drop, y, threads);
  });
}

void Cpu::gate_backward(Matrix dy, Matrix x, Activation activation, const Dropout& drop, Matrix dx,
                        Matrix dbias, bool add_bias) {
  TX_ASSERT(is_gated(activation) && x.cols == 2 * dy.cols && dx.cols == x.cols);
  {
    const Timed timed(profile_.get(), "pointwise", traffic(dy, x, dx));
    with_type(x.dtype, [&](auto t) {
      gate_backward_rows<decltype(t)>(dy, x, gate_function(activation), drop, dx, threads);
    });
  }
  if (!dbias.empty()) column_sum(dx, dbias, add_bias);
}

void Cpu::rotate(Matrix x, int width, Matrix table, const uint32_t* positions, bool back) {
  TX_ASSERT(width % 2 == 0 && x.cols % width == 0 && table.cols == width);
  const Timed timed(profile_.get(), "pointwise", traffic(x, x));
  with_type(x.dtype,
            [&](auto t) { rotate_rows<decltype(t)>(x, width, table, positions, back, threads); });
}

}  // namespace tx
