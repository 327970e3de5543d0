#include <algorithm>
#include <numeric>

#include "kernels/cpu.h"
#include "kernels/cpu/profile.h"
#include "kernels/cpu/simd.h"

namespace tx {
namespace {

constexpr int64_t block =
    norm_block;  // elements; fixed, so that bits do not depend on the number of threads

template <class A>
TX_CLONES void add_squares(const A* g, int64_t count, double* sums, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int64_t b = 0; b < (count + block - 1) / block; ++b) {
    double sum = 0;
    const int64_t end = std::min(count, (b + 1) * block);
#pragma omp simd reduction(+ : sum)
    for (int64_t i = b * block; i < end; ++i) sum += double(g[i]) * double(g[i]);
    sums[b] = sum;
  }
}

// Kingma and Ba 2015, algorithm 1, with decoupled weight decay (Loshchilov and Hutter 2019).
template <class A>
struct AdamStep {
  A beta1, beta2, rest1, rest2;  // rest = 1 - beta, computed in double
  A epsilon, rate, decay, clip, correct1, correct2;
};

template <class A>
TX_INLINE A adam_element(const AdamStep<A>& s, A g, A w, A decay, A& m, A& v) {
  m = s.beta1 * m + s.rest1 * g;
  v = s.beta2 * v + s.rest2 * g * g;
  const A move = m * s.correct1 / (std::sqrt(v * s.correct2) + s.epsilon);
  return w - s.rate * (move + decay * w);
}

template <class A>
TX_CLONES void adam_blocks(const AdamStep<A>& s, A* w, const A* g, A* m, A* v, bf16* copy,
                           int64_t count, int64_t decayed, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int64_t b = 0; b < (count + block - 1) / block; ++b) {
    const int64_t end = std::min(count, (b + 1) * block);
    for (int64_t i = b * block; i < end; ++i) {
      const A decay = i < decayed ? s.decay : A(0);
      w[i] = adam_element(s, g[i] * s.clip, w[i], decay, m[i], v[i]);
    }
    if (copy)
      for (int64_t i = b * block; i < end; ++i) store(copy[i], float(w[i]));
  }
}

template <class A>
TX_CLONES void sgd_blocks(const AdamStep<A>& s, A* w, const A* g, bf16* copy, int64_t count,
                          int64_t decayed, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int64_t b = 0; b < (count + block - 1) / block; ++b) {
    const int64_t end = std::min(count, (b + 1) * block);
    for (int64_t i = b * block; i < end; ++i) {
      const A decay = i < decayed ? s.decay : A(0);
      w[i] -= s.rate * (g[i] * s.clip + decay * w[i]);
    }
    if (copy)
      for (int64_t i = b * block; i < end; ++i) store(copy[i], float(w[i]));
  }
}

template <class A>
TX_CLONES void average(const A* g, A* m, A* direction, A factor, A rest, A clip, int64_t count,
                       int threads) {
#pragma omp parallel for num_threads(threads)
  for (int64_t b = 0; b < (count + block - 1) / block; ++b) {
    const int64_t end = std::min(count, (b + 1) * block);
    for (int64_t i = b * block; i < end; ++i) {
      const A now = rest * (g[i] * clip);
      m[i] = factor * m[i] + now;
      direction[i] = factor * m[i] + now;
    }
  }
}

template <class A>
TX_CLONES void scale_elements(A* x, A factor, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] *= factor;
}

// Row i; a is added before the sum is rounded.
template <class T, class A>
TX_CLONES void add_terms(T* x, const T* square, int64_t i, A a, A b, A c, int64_t n) {
  const A diagonal = b * load(x[i]) + c * load(square[i]) + a;
  for (int64_t j = 0; j < n; ++j) store(x[j], b * load(x[j]) + c * load(square[j]));
  store(x[i], diagonal);
}

// f(element of the type in which `block` is stored)
template <class F>
void with_type(Matrix block, F&& f) {
  if (block.dtype == DType::f64)
    f(double());
  else
    f(float());
}

template <class A>
AdamStep<A> resolve(const AdamSettings& settings, const StepRecord& record) {
  AdamStep<A> s;
  s.beta1 = A(settings.beta1);
  s.beta2 = A(settings.beta2);
  s.rest1 = A(1 - settings.beta1);
  s.rest2 = A(1 - settings.beta2);
  s.epsilon = A(settings.epsilon);
  s.rate = A(record.rate);
  s.decay = A(settings.weight_decay);
  s.clip = A(record.clip_factor);
  s.correct1 = A(1 / (1 - std::pow(settings.beta1, double(record.step))));
  s.correct2 = A(1 / (1 - std::pow(settings.beta2, double(record.step))));
  return s;
}

double total_of(Matrix squares) {
  const double* sums = squares.row<double>(0);
  return std::accumulate(sums, sums + squares.cols, 0.0);
}

bf16* copy_of(Matrix copy) { return copy.empty() ? nullptr : copy.row<bf16>(0); }

}  // namespace

void Cpu::square_sums(Matrix gradients, Matrix squares) {
  const Timed timed(profile_.get(), "optimizer", traffic(gradients));
  const int64_t count = gradients.rows * gradients.cols;
  TX_ASSERT(squares.dtype == DType::f64 && squares.cols == norm_blocks(count));
  double* sums = squares.row<double>(0);
  with_type(gradients, [&](auto zero) {
    add_squares(gradients.row<decltype(zero)>(0), count, sums, threads);
  });
}

void Cpu::gradient_norm(Matrix squares, StepRecord* record) {
  const Timed timed(profile_.get(), "optimizer", traffic(squares));
  const double norm = std::sqrt(total_of(squares));
  record->gradient_norm = norm;
  const double loss = record->loss * record->loss_scale;
  const bool finite = std::isfinite(norm) && std::isfinite(loss);
  record->spike = finite && record->loss_limit > 0 && loss > record->loss_limit ? 1 : 0;
  record->skip = finite && !record->spike ? 0 : 1;
  const bool clips = record->clip_norm > 0 && norm > record->clip_norm;
  record->clip_factor = clips ? record->clip_norm / norm : 1.0;
}

void Cpu::adam(Matrix parameters, Matrix gradients, Matrix m, Matrix v, Matrix copy,
               int64_t decayed, const AdamSettings& settings, const StepRecord* record) {
  const Timed timed(profile_.get(), "optimizer",
                    traffic(parameters, parameters, gradients, m, m, v, v, copy));
  if (record->skip) return;
  with_type(parameters, [&](auto zero) {
    using A = decltype(zero);
    adam_blocks(resolve<A>(settings, *record), parameters.row<A>(0), gradients.row<A>(0),
                m.row<A>(0), v.row<A>(0), copy_of(copy), parameters.rows * parameters.cols, decayed,
                threads);
  });
}

void Cpu::sgd(Matrix parameters, Matrix gradients, double scale, Matrix copy, int64_t decayed,
              const AdamSettings& settings, const StepRecord* record) {
  const Timed timed(profile_.get(), "optimizer", traffic(parameters, parameters, gradients, copy));
  if (record->skip) return;
  with_type(parameters, [&](auto zero) {
    using A = decltype(zero);
    AdamStep<A> step = resolve<A>(settings, *record);
    if (scale != 0) step.clip = A(scale);
    sgd_blocks(step, parameters.row<A>(0), gradients.row<A>(0), copy_of(copy),
               parameters.rows * parameters.cols, decayed, threads);
  });
}

void Cpu::momentum(Matrix gradients, Matrix m, Matrix direction, double factor,
                   const StepRecord* record) {
  const Timed timed(profile_.get(), "optimizer", traffic(gradients, m, m, direction));
  if (record->skip) return;
  with_type(m, [&](auto zero) {
    using A = decltype(zero);
    average(gradients.row<A>(0), m.row<A>(0), direction.row<A>(0), A(factor), A(1 - factor),
            A(record->clip_factor), m.rows * m.cols, threads);
  });
}

void Cpu::normalise(Matrix x, Matrix squares) {
  const Timed timed(profile_.get(), "optimizer", traffic(x, x, squares));
  const double sum = total_of(squares);
  const double factor = sum > smallest_square ? 1 / std::sqrt(sum) : 0;
  with_type(x, [&](auto zero) {
    using A = decltype(zero);
    scale_elements(x.row<A>(0), A(factor), x.rows * x.cols);
  });
}

void Cpu::quadratic(Matrix x, Matrix square, double a, double b, double c) {
  const Timed timed(profile_.get(), "optimizer", traffic(x, x, square));
  with_type(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    using A = acc_t<T>;
    for (int64_t i = 0; i < x.rows; ++i)
      add_terms(x.row<T>(i), square.row<T>(i), i, A(a), A(b), A(c), x.cols);
  });
}

}  // namespace tx
