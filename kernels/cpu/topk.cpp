#include "kernels/cpu.h"
#include "kernels/cpu/softmax.h"

namespace tx {
namespace {

template <class T, class L>
TX_INLINE acc_t<T> log_sum_exp(const T* x, int64_t count) {
  const acc_t<T> max = largest<L>(x, count);
  return max + acc_t<T>(std::log(softmax_sums<L>(x, count, max).exponentials));
}

template <class T, class L>
TX_INLINE void log_softmax_row(const T* x, int64_t vocabulary, float* y) {
  const auto lse = log_sum_exp<T, L>(x, vocabulary);
  for (int64_t j = 0; j < vocabulary; ++j) y[j] = float(load(x[j]) - lse);
}

template <class T>
void log_softmax_rows(Matrix logits, int64_t vocabulary, Matrix out, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < logits.rows; ++i)
    with_lanes<acc_t<T>>([&](auto lanes) TX_INLINE_LAMBDA {
      using L = decltype(lanes);
      log_softmax_row<T, L>(logits.row<T>(i), vocabulary, out.row<float>(i));
    });
}

// Keeps the k best in order; skips blocks whose maximum is not above the k-th.
template <class T>
TX_INLINE void best_of_row(const T* x, int64_t count, int k, acc_t<T> offset, float* values,
                           int32_t* ids) {
  constexpr int64_t step = 64;
  int kept = 0;
  for (int64_t first = 0; first < count; first += step) {
    const int64_t end = first + step < count ? first + step : count;
    if (kept == k) {
      float max = -INFINITY;
#pragma omp simd reduction(max : max)
      for (int64_t j = first; j < end; ++j) {
        const float value = float(load(x[j]) - offset);
        max = value > max ? value : max;
      }
      if (!(max > values[k - 1])) continue;
    }
    for (int64_t j = first; j < end; ++j) {
      const float value = float(load(x[j]) - offset);
      if (kept == k && !(value > values[k - 1])) continue;
      int at = kept < k ? kept++ : k - 1;
      for (; at > 0 && value > values[at - 1]; --at) {
        values[at] = values[at - 1];
        ids[at] = ids[at - 1];
      }
      values[at] = value;
      ids[at] = int32_t(j);
    }
  }
}

template <class T>
void topk_rows(Matrix x, int64_t columns, int k, bool normalise, float* values, int32_t* ids,
               int threads) {
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < x.rows; ++i)
    with_lanes<acc_t<T>>([&](auto lanes) TX_INLINE_LAMBDA {
      using L = decltype(lanes);
      const T* row = x.row<T>(i);
      const acc_t<T> offset = normalise ? log_sum_exp<T, L>(row, columns) : acc_t<T>(0);
      best_of_row(row, columns, k, offset, values + i * k, ids + i * k);
    });
}

}  // namespace

void Cpu::log_softmax(Matrix logits, int64_t vocabulary, Matrix out) {
  with_type(logits.dtype,
            [&](auto t) { log_softmax_rows<decltype(t)>(logits, vocabulary, out, threads); });
}

void Cpu::topk(Matrix x, int64_t columns, int k, float* values, int32_t* ids) {
  TX_ASSERT(k <= columns);
  with_type(x.dtype,
            [&](auto t) { topk_rows<decltype(t)>(x, columns, k, false, values, ids, threads); });
}

void Cpu::log_softmax_topk(Matrix logits, int64_t vocabulary, int k, float* values, int32_t* ids) {
  TX_ASSERT(k <= vocabulary);
  with_type(logits.dtype, [&](auto t) {
    topk_rows<decltype(t)>(logits, vocabulary, k, true, values, ids, threads);
  });
}

}  // namespace tx
