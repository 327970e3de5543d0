#include "kernels/cuda/rows/activation.h"
#include "kernels/cuda/rows/pass.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

template <class T>
constexpr int rows_at_once = sizeof(T) == 2 ? 4 : 2;

template <class T>
struct Masked {
  Octet<T> x;
  RowMask mask;
};

// y = dropout(activation(x))
template <class T, Activation activation>
struct Activate {
  static constexpr int at_once = rows_at_once<T>;
  using Loaded = Masked<T>;
  Matrix x, y;
  Dropout drop;
  bool packed;

  TX_DEVICE void load(int64_t i, int64_t column, int count, Loaded& in) const {
    in.x = read_octet(row_of<T>(x, i) + column, count, packed);
    in.mask.read(drop, i);
  }
  TX_DEVICE void finish(int64_t i, int64_t column, int count, const Loaded& in,
                        float (&value)[octet]) const {
#pragma unroll
    for (int j = 0; j < octet; ++j) value[j] = activated<activation>(in.x[j]);
    in.mask.apply(drop, column, value);
    write_octet(row_of<T>(y, i) + column, count, packed, octet_of<T>(value));
  }
};

// dx of activate from what forward stored. relu keeps its output, 0 where dropped: `drop` is off.
template <class T, Activation activation>
struct ActivateBackward {
  static constexpr int at_once = rows_at_once<T>;
  struct Loaded {
    Octet<T> dy, kept;
    RowMask mask;
  };
  Matrix dy, kept, dx;
  Dropout drop;
  float scale;
  bool packed;

  TX_DEVICE void load(int64_t i, int64_t column, int count, Loaded& in) const {
    in.dy = read_octet(row_of<T>(dy, i) + column, count, packed);
    if (activation != Activation::none)
      in.kept = read_octet(row_of<T>(kept, i) + column, count, packed);
    in.mask.read(drop, i);
  }
  TX_DEVICE void finish(int64_t i, int64_t column, int count, const Loaded& in,
                        float (&value)[octet]) const {
#pragma unroll
    for (int j = 0; j < octet; ++j) {
      value[j] = in.dy[j];
      if (activation == Activation::relu)
        value[j] = in.kept[j] > 0 ? value[j] * scale : 0.0f;
      else if (activation != Activation::none)
        value[j] *= activation_slope<activation>(in.kept[j]);
    }
    in.mask.apply(drop, column, value);
    const Octet<T> stored = octet_of<T>(value);
    write_octet(row_of<T>(dx, i) + column, count, packed, stored);
    spread(stored, value);
  }
};

template <class T>
struct Read {
  static constexpr int at_once = rows_at_once<T>;
  using Loaded = Octet<T>;
  Matrix x;
  bool packed;

  TX_DEVICE void load(int64_t i, int64_t column, int count, Loaded& in) const {
    in = read_octet(row_of<T>(x, i) + column, count, packed);
  }
  TX_DEVICE void finish(int64_t, int64_t, int, const Loaded& in, float (&value)[octet]) const {
    spread(in, value);
  }
};

// y = x + dropout(sub)
template <class T>
struct DropoutSum {
  static constexpr int at_once = rows_at_once<T>;
  struct Loaded {
    Octet<T> x, sub;
    RowMask mask;
  };
  Matrix x, sub, y;
  Dropout drop;
  bool packed;

  TX_DEVICE void load(int64_t i, int64_t column, int count, Loaded& in) const {
    in.x = read_octet(row_of<T>(x, i) + column, count, packed);
    in.sub = read_octet(row_of<T>(sub, i) + column, count, packed);
    in.mask.read(drop, i);
  }
  TX_DEVICE void finish(int64_t i, int64_t column, int count, const Loaded& in,
                        float (&value)[octet]) const {
    spread(in.sub, value);
    in.mask.apply(drop, column, value);
#pragma unroll
    for (int j = 0; j < octet; ++j) value[j] += in.x[j];
    write_octet(row_of<T>(y, i) + column, count, packed, octet_of<T>(value));
  }
};

// to[i] = from[rows[i]], or to[rows[i]] = from[i]: the bytes as they are
template <class T>
struct MoveRows {
  static constexpr int at_once = rows_at_once<T>;
  using Loaded = Octet<T>;
  Matrix from, to;
  const int32_t* rows;
  bool gather, packed;

  TX_DEVICE void load(int64_t i, int64_t column, int count, Loaded& in) const {
    in = read_octet(row_of<T>(from, gather ? rows[i] : i) + column, count, packed);
  }
  TX_DEVICE void finish(int64_t i, int64_t column, int count, const Loaded& in,
                        float (&)[octet]) const {
    write_octet(row_of<T>(to, gather ? i : rows[i]) + column, count, packed, in);
  }
};

// to[i][j] = from[i][columns[j]]
template <class T>
__global__ void __launch_bounds__(pass_threads)
    gather_columns_kernel(Matrix from, const int32_t* columns, Matrix to) {
  const int64_t at = int64_t(blockIdx.x) * pass_threads + threadIdx.x;
  if (at >= to.rows * to.cols) return;
  const int64_t i = at / to.cols, j = at % to.cols;
  row_of<T>(to, i)[j] = row_of<T>(from, i)[columns[j]];
}

}  // namespace

void Cuda::activate(Matrix x, Activation activation, const Dropout& drop, Matrix y) {
  const Timed timed(*state_, "pointwise", traffic(x, y));
  with_type(x.dtype, [&](auto t) {
    with_activation(activation, [&](auto a) {
      const Activate<decltype(t), decltype(a)::value> op{x, y, drop, all_packed(x, y)};
      pass(*state_, op, x.rows, x.cols);
    });
  });
}

void Cuda::activate_backward(Matrix dy, Matrix y, Activation activation, const Dropout& drop,
                             Matrix dx, Matrix dbias, bool add_bias) {
  const Timed timed(*state_, "pointwise", traffic(dy, y, dx));
  Dropout mask = drop;
  if (activation == Activation::relu) mask.threshold = 0;
  const float scale = drop.threshold ? float(drop.scale) : 1.0f;
  const bool packed = all_packed(dy, y, dx);
  with_type(dy.dtype, [&](auto t) {
    with_activation(activation, [&](auto a) {
      const ActivateBackward<decltype(t), decltype(a)::value> op{dy, y, dx, mask, scale, packed};
      if (dbias.empty()) return pass(*state_, op, dy.rows, dy.cols);
      sum_pass(*state_, op, dy.rows, dy.cols, dbias, add_bias);
    });
  });
}

void Cuda::column_sum(Matrix x, Matrix sum, bool add) {
  const Timed timed(*state_, "pointwise", traffic(x));
  with_type(x.dtype, [&](auto t) {
    sum_pass(*state_, Read<decltype(t)>{x, all_packed(x)}, x.rows, x.cols, sum, add);
  });
}

void Cuda::dropout_sum(Matrix x, Matrix sub, const Dropout& drop, Matrix y) {
  const Timed timed(*state_, "pointwise", traffic(x, sub, y));
  with_type(x.dtype, [&](auto t) {
    const DropoutSum<decltype(t)> op{x, sub, y, drop, all_packed(x, sub, y)};
    pass(*state_, op, sub.rows, sub.cols);
  });
}

void Cuda::add(Matrix x, Matrix y) { dropout_sum(y, x, Dropout{}, y); }

void Cuda::gather_rows(Matrix from, const int32_t* rows, Matrix to) {
  const Timed timed(*state_, "pointwise", traffic(to, to));
  with_type(to.dtype, [&](auto t) {
    const MoveRows<decltype(t)> op{from, to, rows, true, all_packed(from, to)};
    pass(*state_, op, to.rows, to.cols);
  });
}

void Cuda::scatter_rows(Matrix from, const int32_t* rows, Matrix to) {
  const Timed timed(*state_, "pointwise", traffic(from, from));
  with_type(from.dtype, [&](auto t) {
    const MoveRows<decltype(t)> op{from, to, rows, false, all_packed(from, to)};
    pass(*state_, op, from.rows, from.cols);
  });
}

void Cuda::gather_columns(Matrix from, const int32_t* columns, Matrix to) {
  const Timed timed(*state_, "pointwise", traffic(to, to));
  TX_ASSERT(from.rows == to.rows && from.dtype == to.dtype);
  if (to.rows == 0 || to.cols == 0) return;
  with_type(to.dtype, [&](auto t) {
    launch(*state_, gather_columns_kernel<decltype(t)>, blocks_of(to.rows * to.cols, pass_threads),
           pass_threads, 0, from, columns, to);
  });
}

namespace {

template <class From, class To>
struct Convert {
  static constexpr int at_once = 2;
  using Loaded = Octet<From>;
  Matrix from, to;
  bool packed;

  TX_DEVICE void load(int64_t i, int64_t column, int count, Loaded& in) const {
    in = read_octet(row_of<From>(from, i) + column, count, packed);
  }
  TX_DEVICE void finish(int64_t i, int64_t column, int count, const Loaded& in,
                        float (&value)[octet]) const {
    spread(in, value);
    write_octet(row_of<To>(to, i) + column, count, packed, octet_of<To>(value));
  }
};

}  // namespace

void Cuda::convert(Matrix from, Matrix to) {
  const Timed timed(*state_, "conversion", traffic(from, to));
  TX_ASSERT(from.rows == to.rows && from.cols == to.cols);
  with_type(from.dtype, [&](auto f) {
    with_type(to.dtype, [&](auto t) {
      const Convert<decltype(f), decltype(t)> op{from, to, all_packed(from, to)};
      pass(*state_, op, from.rows, from.cols);
    });
  });
}

}  // namespace tx
