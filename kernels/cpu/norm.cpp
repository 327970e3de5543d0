#include <algorithm>
#include <vector>

#include "kernels/cpu.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/profile.h"
#include "kernels/cpu/random.h"

namespace tx {
namespace {

// to = x + dropout(sub) for one row, rounded to the storage type, as backward will see it.
template <class L, class T>
TX_INLINE void add_row(const T* x, const T* sub, const uint16_t* bits, const Dropout& drop, T* to,
                       int64_t d) {
  with_mask<acc_t<T>>(drop, bits, [&](const auto& kept) TX_INLINE_LAMBDA {
    map_lanes<L>(
        to, d, [&](int64_t j, auto a, auto b) TX_INLINE_LAMBDA { return a + kept(j, b); }, x, sub);
  });
}

bool root_mean_square(const Matrix& beta) { return beta.empty(); }

template <class T, class L>
TX_INLINE void add_norm_row(const AddNorm& p, int64_t i, const uint16_t* bits) {
  using A = acc_t<T>;
  const int64_t d = p.sub.cols;
  const T* r = p.sub.row<T>(i);
  if (!p.x.empty()) {
    add_row<L>(p.x.row<T>(i), r, bits, p.drop, p.sum.row<T>(i), d);
    r = p.sum.row<T>(i);
  }
  // Sums of differences from the first element: precise far from zero, exact for constant rows.
  const A origin = load(r[0]);
  A mean = 0;
  if (!root_mean_square(p.beta)) {
    const A total = lane_sum<L>(
        d, [=](auto v) TX_INLINE_LAMBDA { return v - origin; }, r);
    mean = origin + total / A(d);
  }
  const A square = lane_sum<L>(
      d, [=](auto v) TX_INLINE_LAMBDA { return (v - mean) * (v - mean); }, r);
  const A rstd = A(1) / std::sqrt(square / A(d) + A(p.epsilon));
  const A* g = p.gamma.row<A>(0);
  T* y = p.normed.row<T>(i);
  if (root_mean_square(p.beta)) {
    map_lanes<L>(
        y, d, [=](int64_t, auto v, auto gain) TX_INLINE_LAMBDA { return v * rstd * gain; }, r, g);
  } else {
    map_lanes<L>(
        y, d,
        [=](int64_t, auto v, auto gain, auto bias)
            TX_INLINE_LAMBDA { return (v - mean) * rstd * gain + bias; },
        r, g, p.beta.row<A>(0));
  }
  if (!p.stats.empty()) {
    p.stats.row<A>(i)[0] = mean;
    p.stats.row<A>(i)[1] = rstd;
  }
}

template <class T>
void add_norm_rows(const AddNorm& p, int threads) {
  const MaskRows masks(p.drop, p.sub.cols, threads);
#pragma omp parallel num_threads(threads)
  {
    const MaskRow mask = masks.mine();
#pragma omp for
    for (int64_t i = 0; i < p.sub.rows; ++i) {
      const uint16_t* bits = mask.draw(i);
      with_lanes<acc_t<T>>([&](auto lanes) TX_INLINE_LAMBDA {
        using L = decltype(lanes);
        add_norm_row<T, L>(p, i, bits);
      });
    }
  }
}

// d of one row into `d` (width floats): layer norm's input gradient plus dsum; adds to dg and db.
// `centred`: LayerNorm, not RMSNorm.
template <class L, class T, class A>
TX_INLINE void norm_gradient_row(const T* dy, const T* dsum, const T* r, const A* g, A mean, A rstd,
                                 bool centred, int64_t width, A* d, A* dg, A* db) {
  for_lanes<L>(width, [=](int64_t j, auto zero) TX_INLINE_LAMBDA {
    using V = decltype(zero);
    const V y = load_lanes<V>(dy + j), xhat = (load_lanes<V>(r + j) - mean) * rstd;
    put_lanes<L>(dg + j, load_lanes<V>(dg + j) + y * xhat);
    put_lanes<L>(db + j, load_lanes<V>(db + j) + y);
    put_lanes<L>(d + j, xhat);
  });
  const auto product = [](auto... v) TX_INLINE_LAMBDA { return (v * ...); };
  const A a = centred ? lane_sum<L>(width, product, dy, g) / A(width) : A(0);
  const A b = lane_sum<L>(width, product, dy, g, d) / A(width);
  const auto gradient = [=](int64_t, auto y, auto gain, auto xhat)
                            TX_INLINE_LAMBDA { return (y * gain - a - xhat * b) * rstd; };
  if (dsum)
    map_lanes<L>(
        d, width,
        [=](int64_t j, auto y, auto gain, auto xhat, auto sum)
            TX_INLINE_LAMBDA { return gradient(j, y, gain, xhat) + sum; },
        dy, g, d, dsum);
  else
    map_lanes<L>(d, width, gradient, dy, g, d);
}

// Writes d to dx (assigned or added) and, through the dropout, to dsub.
template <class L, class T, class A>
TX_INLINE void spread_row(const A* d, const uint16_t* bits, const Dropout& drop, bool add, T* dx,
                          T* dsub, int64_t width) {
  if (dx && add)
    map_lanes<L>(
        dx, width, [](int64_t, auto old, auto v) TX_INLINE_LAMBDA { return old + v; }, dx, d);
  else if (dx)
    map_lanes<L>(
        dx, width, [](int64_t, auto v) TX_INLINE_LAMBDA { return v; }, d);
  if (!dsub) return;
  with_mask<A>(drop, bits,
               [&](const auto& kept) TX_INLINE_LAMBDA { map_lanes<L>(dsub, width, kept, d); });
}

// Sums over rows are in blocks of fixed size, so that bits do not depend on the number of threads.
constexpr int64_t block_rows = 128;

template <class T>
void norm_backward_rows(const AddNormBackward& p, acc_t<T>* partial, int threads) {
  using A = acc_t<T>;
  const int64_t width = p.dnormed.cols, rows = p.dnormed.rows;
  const int64_t blocks = (rows + block_rows - 1) / block_rows;
  const MaskRows masks(p.drop, width, threads);
  const ThreadRows<A> gradients(threads, width);
#pragma omp parallel num_threads(threads)
  {
    const MaskRow mask = masks.mine();
    A* const d = gradients.mine();
#pragma omp for
    for (int64_t block = 0; block < blocks; ++block) {
      A *dg = partial + block * 2 * width, *db = dg + width;
      std::fill(dg, dg + 2 * width, A(0));
      for (int64_t i = block * block_rows; i < std::min(rows, (block + 1) * block_rows); ++i) {
        const uint16_t* bits = p.dsub.empty() ? nullptr : mask.draw(i);
        with_lanes<acc_t<T>>([&](auto lanes) TX_INLINE_LAMBDA {
          using L = decltype(lanes);
          const A* stats = p.stats.row<A>(i);
          norm_gradient_row<L>(p.dnormed.row<T>(i), p.dsum.empty() ? nullptr : p.dsum.row<T>(i),
                               p.sum.row<T>(i), p.gamma.row<A>(0), stats[0], stats[1],
                               !root_mean_square(p.dbeta), width, d, dg, db);
          spread_row<L>(d, bits, p.drop, p.add_x, p.dx.empty() ? nullptr : p.dx.row<T>(i),
                        p.dsub.empty() ? nullptr : p.dsub.row<T>(i), width);
        });
      }
    }
  }
  const auto add_up = [&](const Matrix& sum, int64_t first) {
    A* to = sum.row<A>(0);
    for (int64_t j = 0; !p.add_parameters && j < width; ++j) to[j] = 0;
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t j = 0; j < width; ++j) to[j] += partial[block * 2 * width + first + j];
  };
  add_up(p.dgamma, 0);
  if (!root_mean_square(p.dbeta)) add_up(p.dbeta, width);
}

// The gain of a head at column `at`.
template <class A>
const A* gain_of(const HeadNorm& p, int64_t at) {
  return p.gamma.row<A>(0) + (at < p.queries ? 0 : p.width);
}

template <class L, class T>
TX_INLINE acc_t<T> head_rstd(const T* x, const HeadNorm& p) {
  using A = acc_t<T>;
  const A square = lane_sum<L>(
      p.width, [](auto v) TX_INLINE_LAMBDA { return v * v; }, x);
  return A(1) / std::sqrt(square / A(p.width) + A(p.epsilon));
}

template <class T>
void norm_heads_rows(const HeadNorm& p, int threads) {
  using A = acc_t<T>;
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < p.x.rows; ++i)
    with_lanes<A>([&](auto lanes) TX_INLINE_LAMBDA {
      using L = decltype(lanes);
      for (int64_t at = 0; at < p.x.cols; at += p.width) {
        T* x = p.x.row<T>(i) + at;
        const A rstd = head_rstd<L>(x, p);
        map_lanes<L>(
            x, p.width,
            [=](int64_t, auto v, auto gain) TX_INLINE_LAMBDA { return v * rstd * gain; }, x,
            gain_of<A>(p, at));
      }
    });
}

// Each block has sums of its own over its rows and heads: partial (blocks, 2 width).
template <class T>
void norm_heads_back(const HeadNorm& p, Matrix dx, acc_t<T>* partial, int threads) {
  using A = acc_t<T>;
  const int64_t blocks = (dx.rows + block_rows - 1) / block_rows, width = p.width;
  const ThreadRows<A> unused(threads, width), xhats(threads, width);
#pragma omp parallel for num_threads(threads)
  for (int64_t block = 0; block < blocks; ++block) {
    A *const sums = partial + block * 2 * width, *const xhat = xhats.mine();
    A* const none = unused.mine();  // the gradient of a bias
    std::fill(sums, sums + 2 * width, A(0));
    for (int64_t i = block * block_rows; i < std::min(dx.rows, (block + 1) * block_rows); ++i)
      for (int64_t at = 0; at < p.x.cols; at += width)
        with_lanes<A>([&](auto lanes) TX_INLINE_LAMBDA {
          using L = decltype(lanes);
          const T* x = p.x.row<T>(i) + at;
          T* dy = dx.row<T>(i) + at;
          norm_gradient_row<L>(dy, static_cast<const T*>(nullptr), x, gain_of<A>(p, at), A(0),
                               head_rstd<L>(x, p), false, width, xhat,
                               sums + (at < p.queries ? 0 : width), none);
          map_lanes<L>(
              dy, width, [](int64_t, auto v) TX_INLINE_LAMBDA { return v; }, xhat);
        });
  }
}

}  // namespace

void Cpu::add_norm(const AddNorm& p) {
  const Timed timed(profile_.get(), "norm",
                    traffic(p.x, p.sub, p.x.empty() ? p.x : p.sum, p.normed));
  with_type(p.sub.dtype, [&](auto t) { add_norm_rows<decltype(t)>(p, threads); });
}

void Cpu::add_norm_matmul(const AddNorm& norm, const RowProduct& p) {
  if (!norm.normed.empty()) add_norm(norm);
  matmul_invariant(p.x, p.prepared, p.bias, p.activation, p.y);
}

void Cpu::add_norm_backward(const AddNormBackward& p) {
  const Timed timed(profile_.get(), "norm, backward",
                    traffic(p.dnormed, p.dsum, p.sum, p.dx, p.add_x ? p.dx : Matrix(), p.dsub));
  with_type(p.dnormed.dtype, [&](auto t) {
    using A = acc_t<decltype(t)>;
    const int64_t blocks = (p.dnormed.rows + block_rows - 1) / block_rows;
    std::vector<A> partial(size_t(blocks) * 2 * size_t(p.dnormed.cols));
    norm_backward_rows<decltype(t)>(p, partial.data(), threads);
  });
}

void Cpu::norm_heads(const HeadNorm& p) {
  TX_ASSERT(p.width > 0 && p.x.cols % p.width == 0 && p.gamma.cols == 2 * p.width);
  const Timed timed(profile_.get(), "norm", traffic(p.x, p.x));
  with_type(p.x.dtype, [&](auto t) { norm_heads_rows<decltype(t)>(p, threads); });
}

void Cpu::norm_heads_backward(const HeadNorm& p, Matrix dx, Matrix dgamma, bool add) {
  TX_ASSERT(p.x.cols % p.width == 0 && p.x.cols <= dx.cols && dgamma.cols == 2 * p.width);
  const Timed timed(profile_.get(), "norm, backward", traffic(p.x, p.x, p.x));
  with_type(dx.dtype, [&](auto t) {
    using A = acc_t<decltype(t)>;
    const int64_t blocks = (dx.rows + block_rows - 1) / block_rows;
    std::vector<A> partial(size_t(blocks * dgamma.cols));
    norm_heads_back<decltype(t)>(p, dx, partial.data(), threads);
    A* to = dgamma.row<A>(0);
    for (int64_t j = 0; !add && j < dgamma.cols; ++j) to[j] = 0;
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t j = 0; j < dgamma.cols; ++j) to[j] += partial[size_t(block * dgamma.cols + j)];
  });
}

}  // namespace tx
