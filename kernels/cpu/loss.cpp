#include <vector>

#include "kernels/cpu.h"
#include "kernels/cpu/profile.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/softmax.h"

namespace tx {
namespace {

struct RowLoss {
  double loss = 0, nll = 0;
  bool correct = false;
};

// Loss of one row. Unless `powers` (vocabulary) is null, fills it with the exponentials and
// overwrites x with the gradient.
template <class T, class L>
TX_INLINE RowLoss row_loss(T* x, int64_t label, int64_t vocabulary, int64_t padded,
                           double smoothing, acc_t<T>* powers, acc_t<T> scale) {
  using A = acc_t<T>;
  const A max = largest<L>(x, vocabulary);
  const SoftmaxSums sums = softmax_sums<L>(x, vocabulary, max, powers);
  const double log_sum = std::log(sums.exponentials);
  const double others = smoothing > 0 ? smoothing / double(vocabulary - 1) : 0;
  const double log_label = double(load(x[label]) - max) - log_sum;
  const double log_all = sums.total - double(vocabulary) * log_sum;
  RowLoss row;
  row.nll = -log_label;
  row.loss = -(1 - smoothing) * log_label;
  if (smoothing > 0) row.loss -= others * (log_all - log_label);  // log_all may be infinite
  row.correct = load(x[label]) >= max;
  if (!powers) return row;
  const A inverse = A(double(scale) / sums.exponentials), q = A(others) * scale;
  const A at_label = powers[label] * inverse - A(1 - smoothing) * scale;
  map_lanes<L>(
      x, vocabulary, [=](int64_t, auto power) TX_INLINE_LAMBDA { return power * inverse - q; },
      powers);
  store(x[label], at_label);
  for (int64_t j = vocabulary; j < padded; ++j) store(x[j], A(0));
  return row;
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
  for (int64_t i = 0; i < logits.rows; ++i) {
    if (labels[i] < 0) continue;
    const RowLoss& row = rows[size_t(i)];
    record->loss += row.loss;
    record->nll += row.nll;
    record->correct += row.correct;
    record->labels += 1;
  }
}

void Cpu::add_sums(const StepRecord* from, StepRecord* to) {
  to->loss += from->loss;
  to->nll += from->nll;
  to->correct += from->correct;
  to->labels += from->labels;
  to->guided += from->guided;
  to->guided_rows += from->guided_rows;
}

}  // namespace tx
