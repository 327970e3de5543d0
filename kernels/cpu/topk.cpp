#include <algorithm>
#include <bit>
#include <functional>

#include "kernels/cpu.h"
#include "kernels/cpu/softmax.h"

namespace tx {
namespace {

template <class L, class T>
TX_INLINE acc_t<T> log_sum_exp(const T* x, int64_t count, acc_t<T> max) {
  return max + acc_t<T>(std::log(softmax_sums<L>(x, count, max).exponentials));
}

template <class T, class L>
TX_INLINE void log_softmax_row(const T* x, int64_t vocabulary, float* y) {
  const auto lse = log_sum_exp<L>(x, vocabulary, largest<L>(x, vocabulary));
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

// A row in blocks, and the largest number of each: a few blocks hold the k best of the row.
constexpr int64_t most_blocks = 1024;
template <class A>
struct Blocks {
  int64_t size = 16, count = 0;
  A largest[most_blocks];
};

template <class L, class T>
TX_INLINE void find_blocks(const T* x, int64_t count, int k, Blocks<acc_t<T>>& to) {
  using A = acc_t<T>;
  while (count > most_blocks * to.size || (to.size < 64 && count > 4 * k * to.size)) to.size *= 2;
  for (int64_t first = 0; first < count; first += to.size) {
    A max = -A(INFINITY);
    typename L::Vector lanes = typename L::Vector{} + max;
    for_lanes<L>(std::min(to.size, count - first), [&](int64_t j, auto zero) TX_INLINE_LAMBDA {
      using V = decltype(zero);
      if constexpr (std::is_arithmetic_v<V>)
        max = larger(load(x[first + j]), max);
      else
        lanes = larger(load_lanes<V>(x + first + j), lanes);
    });
    to.largest[to.count++] = larger(largest_lane(lanes), max);
  }
}

// A value that k blocks reach; minus infinity if there are fewer blocks.
template <class A>
A reached_by(int k, const Blocks<A>& blocks) {
  if (blocks.count < k) return -A(INFINITY);
  A sorted[most_blocks];
  std::copy_n(blocks.largest, blocks.count, sorted);
  std::nth_element(sorted, sorted + k - 1, sorted + blocks.count, std::greater<>());
  return sorted[k - 1];
}

// Orders by falling value, then by rising index; values that are not numbers come first.
inline uint64_t key_of(float value, int64_t index) {
  const uint32_t bits = std::bit_cast<uint32_t>(value + 0.0f);
  const uint32_t rising = bits >> 31 ? ~bits : bits | 0x80000000u;
  return uint64_t(value == value ? rising : ~0u) << 32 | uint32_t(~index);
}
inline int64_t index_of(uint64_t key) { return int64_t(uint32_t(~key)); }

// Collects values that may be among the k best, halves them when there are twice as many, and sorts
// at the end. `keys` has room for 2 k.
template <class T>
TX_INLINE void best_of_row(const T* x, int64_t count, int k, acc_t<T> offset,
                           const Blocks<acc_t<T>>& blocks, uint64_t* keys, float* values,
                           int32_t* ids) {
  const auto value_of = [&](int64_t j) { return float(load(x[j]) - offset); };
  uint64_t* end = keys;
  const auto halve = [&] {
    std::nth_element(keys, keys + k - 1, end, std::greater<>());
    end = keys + k;
  };
  float least = float(reached_by(k, blocks) - offset);
  for (int64_t i = 0; i < blocks.count; ++i) {
    if (float(blocks.largest[i] - offset) < least) continue;
    const int64_t first = i * blocks.size, behind = std::min(count, first + blocks.size);
    for (int64_t j = first; j < behind; ++j) {
      const float value = value_of(j);
      if (value < least) continue;
      *end++ = key_of(value, j);
      if (end < keys + 2 * k) continue;
      halve();
      least = std::nextafter(value_of(index_of(end[-1])), INFINITY);
    }
  }
  halve();
  std::sort(keys, end, std::greater<>());
  for (int i = 0; i < k; ++i) {
    ids[i] = int32_t(index_of(keys[i]));
    values[i] = value_of(ids[i]);
  }
}

template <class T>
void topk_row(const T* row, int64_t columns, int k, bool normalise, uint64_t* keys, float* values,
              int32_t* ids) {
  using A = acc_t<T>;
  with_lanes<A>([&](auto lanes) TX_INLINE_LAMBDA {
    using L = decltype(lanes);
    Blocks<A> blocks;
    find_blocks<L>(row, columns, k, blocks);
    A offset = 0;
    if (normalise)
      offset = log_sum_exp<L>(row, columns,
                              *std::max_element(blocks.largest, blocks.largest + blocks.count));
    best_of_row(row, columns, k, offset, blocks, keys, values, ids);
  });
}

template <class T>
void topk_rows(Matrix x, int64_t columns, int k, bool normalise, float* values, int32_t* ids,
               int threads) {
  const ThreadRows<uint64_t> keys(threads, 2 * k);
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < x.rows; ++i)
    topk_row(x.row<T>(i), columns, k, normalise, keys.mine(), values + i * k, ids + i * k);
}

template <class T>
void topk_lists(Matrix logits, const RowLists& lists, int k, float* values, int32_t* ids,
                int threads) {
  const ThreadRows<uint64_t> keys(threads, 2 * k);
  const ThreadRows<T> rows(threads, logits.cols);
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < logits.rows; ++i) {
    const int32_t count = lists.count[i], *columns = lists.columns + lists.first[i];
    const int kept = std::min(k, count);
    std::fill(values + i * k + kept, values + (i + 1) * k, -INFINITY);
    std::fill(ids + i * k + kept, ids + (i + 1) * k, -1);
    if (count == 0) continue;
    T* const own = rows.mine();
    for (int32_t j = 0; j < count; ++j) own[j] = logits.row<T>(i)[columns[j]];
    topk_row(own, count, kept, true, keys.mine(), values + i * k, ids + i * k);
  }
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

void Cpu::log_softmax_topk_of_lists(Matrix logits, const RowLists& lists, int k, float* values,
                                    int32_t* ids) {
  with_type(logits.dtype,
            [&](auto t) { topk_lists<decltype(t)>(logits, lists, k, values, ids, threads); });
}

}  // namespace tx
