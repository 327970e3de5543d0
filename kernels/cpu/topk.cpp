#include <algorithm>
#include <bit>
#include <functional>

#include "kernels/cpu.h"
#include "kernels/cpu/softmax.h"

namespace tx {
namespace {

constexpr int few = 16;

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

// Calls keep(j, value) for each x - offset above bound(), which keep() may raise; null: no bound.
template <class T, class Bound, class Keep>
TX_INLINE void for_values_above(const T* x, int64_t count, acc_t<T> offset, Bound&& bound,
                                Keep&& keep) {
  constexpr int64_t step = 64;
  for (int64_t first = 0; first < count; first += step) {
    const int64_t end = first + step < count ? first + step : count;
    if (const float* least = bound()) {
      float max = -INFINITY;
#pragma omp simd reduction(max : max)
      for (int64_t j = first; j < end; ++j) {
        const float value = float(load(x[j]) - offset);
        max = value > max ? value : max;
      }
      if (!(max > *least)) continue;
    }
    for (int64_t j = first; j < end; ++j) {
      const float value = float(load(x[j]) - offset);
      if (const float* least = bound(); !least || value > *least) keep(j, value);
    }
  }
}

// Inserts each value into the k best so far: the fastest for few.
template <class T>
TX_INLINE void few_best_of_row(const T* x, int64_t count, int k, acc_t<T> offset, float* values,
                               int32_t* ids) {
  int kept = 0;
  for_values_above(
      x, count, offset, [&]() TX_INLINE_LAMBDA { return kept == k ? values + k - 1 : nullptr; },
      [&](int64_t j, float value) TX_INLINE_LAMBDA {
        int at = kept < k ? kept++ : k - 1;
        for (; at > 0 && value > values[at - 1]; --at) {
          values[at] = values[at - 1];
          ids[at] = ids[at - 1];
        }
        values[at] = value;
        ids[at] = int32_t(j);
      });
}

// Orders by falling value, then by rising index; values that are not numbers come first.
inline uint64_t key_of(float value, int64_t index) {
  const uint32_t bits = std::bit_cast<uint32_t>(value + 0.0f);
  const uint32_t rising = bits >> 31 ? ~bits : bits | 0x80000000u;
  return uint64_t(value == value ? rising : ~0u) << 32 | uint32_t(~index);
}
inline int64_t index_of(uint64_t key) { return int64_t(uint32_t(~key)); }

// Collects twice as many values as wanted, halves them when full, and sorts at the end.
template <class T>
TX_INLINE void many_best_of_row(const T* x, int64_t count, int k, acc_t<T> offset, uint64_t* keys,
                                float* values, int32_t* ids) {
  uint64_t* end = keys;
  float least = 0;
  const auto value_of = [&](uint64_t key) { return float(load(x[index_of(key)]) - offset); };
  const auto halve = [&] {
    uint64_t* last = keys + k - 1;
    std::nth_element(keys, last, end, std::greater<>());
    least = value_of(*last);
    end = keys + k;
  };
  bool bounded = false;
  for_values_above(
      x, count, offset, [&]() TX_INLINE_LAMBDA { return bounded ? &least : nullptr; },
      [&](int64_t j, float value) TX_INLINE_LAMBDA {
        *end++ = key_of(value, j);
        if (end < keys + 2 * k) return;
        halve();
        bounded = true;
      });
  halve();
  std::sort(keys, end, std::greater<>());
  for (int i = 0; i < k; ++i) {
    values[i] = value_of(keys[i]);
    ids[i] = int32_t(index_of(keys[i]));
  }
}

template <class T>
void topk_rows(Matrix x, int64_t columns, int k, bool normalise, float* values, int32_t* ids,
               int threads) {
  const ThreadRows<uint64_t> keys(threads, k > few ? 2 * k : 0);
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < x.rows; ++i)
    with_lanes<acc_t<T>>([&](auto lanes) TX_INLINE_LAMBDA {
      using L = decltype(lanes);
      const T* row = x.row<T>(i);
      const acc_t<T> offset = normalise ? log_sum_exp<T, L>(row, columns) : acc_t<T>(0);
      if (k <= few)
        few_best_of_row(row, columns, k, offset, values + i * k, ids + i * k);
      else
        many_best_of_row(row, columns, k, offset, keys.mine(), values + i * k, ids + i * k);
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
