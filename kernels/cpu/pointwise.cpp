#include <algorithm>
#include <vector>

#include "kernels/cpu.h"
#include "kernels/cpu/activation.h"
#include "kernels/cpu/profile.h"
#include "kernels/cpu/random.h"

namespace tx {
namespace {

template <Activation activation, class T>
TX_INLINE void activate_row(const T* x, const uint16_t* bits, const Dropout& drop, T* y,
                            int64_t width) {
  with_mask<acc_t<T>>(drop, bits, [=](auto kept) TX_INLINE_LAMBDA {
    for (int64_t j = 0; j < width; ++j) store(y[j], kept(j, activated<activation>(load(x[j]))));
  });
}

template <class T>
TX_CLONES void activate_rows(Matrix in, Activation activation, const Dropout& drop, Matrix out,
                             int threads) {
  const MaskRows masks(drop, in.cols, threads);
#pragma omp parallel num_threads(threads)
  {
    const MaskRow mask = masks.mine();
#pragma omp for
    for (int64_t i = 0; i < in.rows; ++i) {
      const T* x = in.row<T>(i);
      T* y = out.row<T>(i);
      const uint16_t* bits = mask.draw(i);
      with_activation(
          activation, [&](auto f) __attribute__((always_inline)) {
            activate_row<decltype(f)::value>(x, bits, drop, y, in.cols);
          });
    }
  }
}

// dx of one row. For relu y is the output, which is 0 where it was dropped.
template <Activation activation, class T>
TX_INLINE void activate_backward_row(const T* dy, const T* kept, const uint16_t* bits,
                                     const Dropout& drop, T* dx, int64_t width) {
  using A = acc_t<T>;
  if (activation == Activation::relu) {
    const A scale = drop.threshold ? A(drop.scale) : A(1);
    for (int64_t j = 0; j < width; ++j)
      store(dx[j], load(kept[j]) > 0 ? load(dy[j]) * scale : A(0));
    return;
  }
  with_mask<A>(drop, bits, [=](auto mask) TX_INLINE_LAMBDA {
    for (int64_t j = 0; j < width; ++j)
      store(dx[j], mask(j, load(dy[j]) * activation_slope<activation>(load(kept[j]))));
  });
}

constexpr int64_t block_rows = 128;  // fixed, so that bits do not depend on the number of threads

template <class T>
TX_CLONES void activate_backward_rows(Matrix dy, Matrix kept, Activation activation,
                                      const Dropout& drop, Matrix dx, acc_t<T>* partial,
                                      int threads) {
  using A = acc_t<T>;
  const int64_t width = dy.cols, blocks = (dy.rows + block_rows - 1) / block_rows;
  const MaskRows masks(drop, width, threads);
#pragma omp parallel num_threads(threads)
  {
    const MaskRow mask = masks.mine();
#pragma omp for
    for (int64_t block = 0; block < blocks; ++block) {
      A* sum = partial ? partial + block * width : nullptr;
      if (sum) std::fill(sum, sum + width, A(0));
      for (int64_t i = block * block_rows; i < std::min(dy.rows, (block + 1) * block_rows); ++i) {
        T* to = dx.row<T>(i);
        const uint16_t* bits = activation == Activation::relu ? nullptr : mask.draw(i);
        with_activation(
            activation, [&](auto f) __attribute__((always_inline)) {
              activate_backward_row<decltype(f)::value>(dy.row<T>(i), kept.row<T>(i), bits, drop,
                                                        to, width);
            });
        if (sum)
          for (int64_t j = 0; j < width; ++j) sum[j] += load(to[j]);
      }
    }
  }
}

template <class T>
TX_CLONES void sum_rows(Matrix x, acc_t<T>* partial, int threads) {
  using A = acc_t<T>;
  const int64_t width = x.cols, blocks = (x.rows + block_rows - 1) / block_rows;
#pragma omp parallel for num_threads(threads)
  for (int64_t block = 0; block < blocks; ++block) {
    A* sum = partial + block * width;
    std::fill(sum, sum + width, A(0));
    for (int64_t i = block * block_rows; i < std::min(x.rows, (block + 1) * block_rows); ++i) {
      const T* row = x.row<T>(i);
      for (int64_t j = 0; j < width; ++j) sum[j] += load(row[j]);
    }
  }
}

template <class A>
void combine(const std::vector<A>& partial, Matrix sum, bool add) {
  A* to = sum.row<A>(0);
  if (!add) std::fill(to, to + sum.cols, A(0));
  for (size_t i = 0; i < partial.size(); ++i) to[i % size_t(sum.cols)] += partial[i];
}

template <class T>
TX_CLONES void dropout_sum_rows(Matrix x, Matrix sub, const Dropout& drop, Matrix out,
                                int threads) {
  using A = acc_t<T>;
  const MaskRows masks(drop, sub.cols, threads);
#pragma omp parallel num_threads(threads)
  {
    const MaskRow mask = masks.mine();
#pragma omp for
    for (int64_t i = 0; i < sub.rows; ++i) {
      const T *a = x.row<T>(i), *b = sub.row<T>(i);
      T* y = out.row<T>(i);
      with_mask<A>(drop, mask.draw(i), [=, cols = sub.cols](auto kept) TX_INLINE_LAMBDA {
        for (int64_t j = 0; j < cols; ++j) store(y[j], load(a[j]) + kept(j, load(b[j])));
      });
    }
  }
}

TX_CLONES void scatter_rounded(Matrix from, const int32_t* rows, Matrix to) {
  TX_ASSERT(from.dtype == DType::f32 && to.dtype == DType::bf16);
  for (int64_t i = 0; i < from.rows; ++i) {
    const float* x = from.row<const float>(i);
    bf16* y = to.row<bf16>(rows[i]);
    for (int64_t j = 0; j < from.cols; ++j) store(y[j], x[j]);
  }
}

}  // namespace

void Cpu::activate(Matrix x, Activation activation, const Dropout& drop, Matrix y) {
  const Timed timed(profile_.get(), "pointwise", traffic(x, y));
  with_type(x.dtype, [&](auto t) { activate_rows<decltype(t)>(x, activation, drop, y, threads); });
}

void Cpu::activate_backward(Matrix dy, Matrix y, Activation activation, const Dropout& drop,
                            Matrix dx, Matrix dbias, bool add_bias) {
  const Timed timed(profile_.get(), "pointwise", traffic(dy, y, dx));
  with_type(dy.dtype, [&](auto t) {
    using A = acc_t<decltype(t)>;
    const int64_t blocks = (dy.rows + block_rows - 1) / block_rows;
    std::vector<A> partial(dbias.empty() ? 0 : size_t(blocks * dy.cols));
    activate_backward_rows<decltype(t)>(dy, y, activation, drop, dx,
                                        dbias.empty() ? nullptr : partial.data(), threads);
    if (!dbias.empty()) combine(partial, dbias, add_bias);
  });
}

void Cpu::product_relu_backward(const Product& p, Matrix y, const Dropout& drop, Matrix dbias,
                                bool add_bias) {
  product(p);
  activate_backward(p.c, y, Activation::relu, drop, p.c, dbias, add_bias);
}

void Cpu::column_sum(Matrix x, Matrix sum, bool add) {
  const Timed timed(profile_.get(), "pointwise", traffic(x));
  with_type(x.dtype, [&](auto t) {
    using A = acc_t<decltype(t)>;
    std::vector<A> partial(size_t((x.rows + block_rows - 1) / block_rows * x.cols));
    sum_rows<decltype(t)>(x, partial.data(), threads);
    combine(partial, sum, add);
  });
}

void Cpu::dropout_sum(Matrix x, Matrix sub, const Dropout& drop, Matrix y) {
  const Timed timed(profile_.get(), "pointwise", traffic(x, sub, y));
  with_type(x.dtype, [&](auto t) { dropout_sum_rows<decltype(t)>(x, sub, drop, y, threads); });
}

void Cpu::add(Matrix x, Matrix y) { dropout_sum(y, x, Dropout{}, y); }

void Cpu::gather_rows(Matrix from, const int32_t* rows, Matrix to) {
  const Timed timed(profile_.get(), "pointwise", traffic(to, to));
  const size_t bytes = size_t(to.cols) * size_of(to.dtype);
  for (int64_t i = 0; i < to.rows; ++i)
    std::memcpy(to.slice(i, 1).data, from.slice(rows[i], 1).data, bytes);
}

// May round from f32 to bf16.
void Cpu::scatter_rows(Matrix from, const int32_t* rows, Matrix to) {
  const Timed timed(profile_.get(), "pointwise", traffic(from, from));
  if (from.dtype != to.dtype) return scatter_rounded(from, rows, to);
  const size_t bytes = size_t(from.cols) * size_of(from.dtype);
  for (int64_t i = 0; i < from.rows; ++i)
    std::memcpy(to.slice(rows[i], 1).data, from.slice(i, 1).data, bytes);
}

void Cpu::gather_columns(Matrix from, const int32_t* columns, Matrix to) {
  const Timed timed(profile_.get(), "pointwise", traffic(to, to));
  TX_ASSERT(from.rows == to.rows && from.dtype == to.dtype);
  with_type(to.dtype, [&](auto t) {
    for (int64_t i = 0; i < to.rows; ++i) {
      const auto* source = from.row<const decltype(t)>(i);
      auto* target = to.row<decltype(t)>(i);
      for (int64_t j = 0; j < to.cols; ++j) target[j] = source[columns[j]];
    }
  });
}

}  // namespace tx
