#include <vector>

#include "kernels/cpu.h"
#include "kernels/cpu/profile.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/softmax.h"

namespace tx {
namespace {

struct RowLoss {
  double loss = 0, nll = 0, consistency = 0;
  bool correct = false;
};

// Softmax of one row of logits: exp(x - max) / sums.exponentials.
template <class T, class L>
struct SoftmaxOf {
  acc_t<T> max;
  SoftmaxSums sums;
  // `powers` (vocabulary), unless null, receives the exponentials.
  TX_INLINE SoftmaxOf(const T* x, int64_t vocabulary, acc_t<T>* powers)
      : max(largest<L>(x, vocabulary)), sums(softmax_sums<L>(x, vocabulary, max, powers)) {}
  TX_INLINE double log_sum() const { return std::log(sums.exponentials); }
};

// The probability that label smoothing gives each other token.
inline double of_others(double smoothing, int64_t vocabulary) {
  return smoothing > 0 ? smoothing / double(vocabulary - 1) : 0;
}

template <class T, class L>
TX_INLINE RowLoss loss_at(const T* x, int64_t label, int64_t vocabulary, double smoothing,
                          const SoftmaxOf<T, L>& softmax) {
  const double log_sum = softmax.log_sum();
  const double log_label = double(load(x[label]) - softmax.max) - log_sum;
  const double log_all = softmax.sums.total - double(vocabulary) * log_sum;
  RowLoss row;
  row.nll = -log_label;
  row.loss = -(1 - smoothing) * log_label;
  if (smoothing > 0)  // log_all may be infinite
    row.loss -= of_others(smoothing, vocabulary) * (log_all - log_label);
  row.correct = load(x[label]) >= softmax.max;
  return row;
}

template <class T>
TX_INLINE void clear_padding(T* x, int64_t vocabulary, int64_t padded) {
  for (int64_t j = vocabulary; j < padded; ++j) store(x[j], acc_t<T>(0));
}

// Loss of one row. `powers` (vocabulary), unless null, gets the exponentials and x the gradient.
template <class T, class L>
TX_INLINE RowLoss row_loss(T* x, int64_t label, int64_t vocabulary, int64_t padded,
                           double smoothing, acc_t<T>* powers, acc_t<T> scale) {
  using A = acc_t<T>;
  const SoftmaxOf<T, L> softmax(x, vocabulary, powers);
  const RowLoss row = loss_at(x, label, vocabulary, smoothing, softmax);
  if (!powers) return row;
  const A inverse = A(double(scale) / softmax.sums.exponentials);
  const A q = A(of_others(smoothing, vocabulary)) * scale;
  const A at_label = powers[label] * inverse - A(1 - smoothing) * scale;
  map_lanes<L>(
      x, vocabulary, [=](int64_t, auto power) TX_INLINE_LAMBDA { return power * inverse - q; },
      powers);
  store(x[label], at_label);
  clear_padding(x, vocabulary, padded);
  return row;
}

// Two rows of logits with the same label, x and y, whose softmax is p and q. With r = log p - log q
//   d KL(p || q) / dx = p (r - KL(p || q)),   d KL(p || q) / dy = q - p.
template <class T, class L>
struct PairLoss {
  using A = acc_t<T>;
  T *x, *y;
  int64_t label, vocabulary;
  double smoothing;
  Consistency consistency;
  A *of_x, *of_y;  // (vocabulary) exponentials

  // The sum of the probabilities times r * sign, in blocks as in softmax_sums().
  TX_INLINE double divergence(const A* powers, A offset, A sign) const {
    constexpr int64_t block = 1024;
    double sum = 0;
    for (int64_t j = 0; j < vocabulary; j += block)
      sum += double(lane_sum<L>(
          std::min(block, vocabulary - j),
          [=](auto power, auto a, auto b)
              TX_INLINE_LAMBDA { return power * ((a - b + offset) * sign); },
          powers + j, x + j, y + j));
    return sum;
  }

  TX_INLINE RowLoss operator()(A scale) const {
    const SoftmaxOf<T, L> p(x, vocabulary, of_x), q(y, vocabulary, of_y);
    RowLoss row = loss_at(x, label, vocabulary, smoothing, p);
    const A offset = A(double(q.max) - double(p.max) + q.log_sum() - p.log_sum());
    const double forward = divergence(of_x, offset, 1) / p.sums.exponentials;
    double reverse = 0;
    if (consistency.symmetric) reverse = divergence(of_y, offset, -1) / q.sums.exponentials;
    row.consistency = consistency.symmetric ? (forward + reverse) / 2 : forward;

    const A p_scale = A(1 / p.sums.exponentials), q_scale = A(1 / q.sums.exponentials);
    const A kl = A(forward), back = A(reverse);
    const A weight = A(consistency.symmetric ? consistency.weight / 2 : consistency.weight);
    const A both = consistency.symmetric ? A(1) : A(0);
    const auto of_p = [=](auto a, auto b, auto power, auto other, A target) TX_INLINE_LAMBDA {
      const auto p = power * p_scale, q = other * q_scale, r = a - b + offset;
      return (p - target + (p * (r - kl) + (p - q) * both) * weight) * scale;
    };
    const auto of_q = [=](auto a, auto b, auto power, auto other, A target) TX_INLINE_LAMBDA {
      const auto p = power * p_scale, q = other * q_scale, r = a - b + offset;
      return ((q - target) * both + (q - p - q * (r + back) * both) * weight) * scale;
    };
    const auto at_label = [&](const auto& f) {
      return f(A(load(x[label])), A(load(y[label])), of_x[label], of_y[label], A(1 - smoothing));
    };
    const A x_label = at_label(of_p), y_label = at_label(of_q);
    const A others = A(of_others(smoothing, vocabulary));
    for_lanes<L>(vocabulary, [&](int64_t j, auto zero) TX_INLINE_LAMBDA {
      using V = decltype(zero);
      const V a = load_lanes<V>(x + j), b = load_lanes<V>(y + j);
      const V power = load_lanes<V>(of_x + j), other = load_lanes<V>(of_y + j);
      put_lanes<L>(x + j, V(of_p(a, b, power, other, others)));
      put_lanes<L>(y + j, V(of_q(a, b, power, other, others)));
    });
    store(x[label], x_label);
    store(y[label], y_label);
    return row;
  }
};

template <class T>
void pair_rows(Matrix logits, const int32_t* labels, int64_t vocabulary, double smoothing,
               const Consistency& consistency, double loss_scale, RowLoss* rows, int threads) {
  using A = acc_t<T>;
  const int64_t pairs = logits.rows / 2;
  const ThreadRows<A> powers(threads, 2 * vocabulary);
#pragma omp parallel num_threads(threads)
  {
    A* const mine = powers.mine();
#pragma omp for schedule(static, 16)
    for (int64_t i = 0; i < pairs; ++i) {
      T *x = logits.row<T>(i), *y = logits.row<T>(pairs + i);
      const int64_t kept = labels[i] < 0 ? 0 : vocabulary;
      if (labels[i] >= 0)
        with_lanes<A>([&](auto lanes) TX_INLINE_LAMBDA {
          rows[i] = PairLoss<T, decltype(lanes)>{x,         y,
                                                 labels[i], vocabulary,
                                                 smoothing, consistency,
                                                 mine,      mine + vocabulary}(A(loss_scale));
        });
      clear_padding(x, kept, logits.cols);
      clear_padding(y, kept, logits.cols);
    }
  }
}

void add_rows(const std::vector<RowLoss>& rows, const int32_t* labels, StepRecord* record) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (labels[i] < 0) continue;
    record->loss += rows[i].loss;
    record->nll += rows[i].nll;
    record->correct += rows[i].correct;
    record->labels += 1;
    record->consistency += rows[i].consistency;
  }
}

template <class T>
void loss_rows(Matrix logits, const int32_t* labels, int64_t vocabulary, double smoothing,
               bool gradient, double loss_scale, RowLoss* rows, int threads) {
  const ThreadRows<acc_t<T>> all_powers(threads, gradient ? vocabulary : 0);
#pragma omp parallel num_threads(threads)
  {
    acc_t<T>* const powers = gradient ? all_powers.mine() : nullptr;
#pragma omp for schedule(static, 16)
    for (int64_t i = 0; i < logits.rows; ++i) {
      T* x = logits.row<T>(i);
      if (labels[i] >= 0)
        with_lanes<acc_t<T>>([&](auto lanes) TX_INLINE_LAMBDA {
          using L = decltype(lanes);
          rows[i] = row_loss<T, L>(x, labels[i], vocabulary, logits.cols, smoothing, powers,
                                   acc_t<T>(loss_scale));
        });
      else if (gradient)
        std::memset(static_cast<void*>(x), 0, size_t(logits.cols) * sizeof(T));
    }
  }
}

}  // namespace

void Cpu::cross_entropy(Matrix logits, const int32_t* labels, int64_t vocabulary, double smoothing,
                        bool gradient, StepRecord* record) {
  const Timed timed(profile_.get(), "loss", traffic(logits, gradient ? logits : Matrix()));
  std::vector<RowLoss> rows(static_cast<size_t>(logits.rows));
  with_type(logits.dtype, [&](auto t) {
    loss_rows<decltype(t)>(logits, labels, vocabulary, smoothing, gradient, record->loss_scale,
                           rows.data(), threads);
  });
  add_rows(rows, labels, record);
}

void Cpu::consistency_loss(Matrix logits, const int32_t* labels, int64_t vocabulary,
                           double smoothing, const Consistency& consistency, StepRecord* record) {
  const Timed timed(profile_.get(), "loss", traffic(logits, logits));
  std::vector<RowLoss> rows(static_cast<size_t>(logits.rows / 2));
  with_type(logits.dtype, [&](auto t) {
    pair_rows<decltype(t)>(logits, labels, vocabulary, smoothing, consistency, record->loss_scale,
                           rows.data(), threads);
  });
  add_rows(rows, labels, record);
}

void Cpu::add_sums(const StepRecord* from, StepRecord* to) {
  to->loss += from->loss;
  to->nll += from->nll;
  to->correct += from->correct;
  to->labels += from->labels;
  to->guided += from->guided;
  to->guided_rows += from->guided_rows;
  to->consistency += from->consistency;
}

}  // namespace tx
