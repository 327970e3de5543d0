// log_softmax, topk, log_softmax_topk, also of lists: one block per row, which is read once.
#include "kernels/cuda/rows/vocabulary.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

// Candidates as keys, all different: larger is better, or equal in a lower column; NaN is last.
TX_DEVICE uint64_t key_of(float value, int column) {
  const uint32_t bits = __float_as_uint(value + 0.0f);  // -0 equals 0
  const uint32_t rising = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return uint64_t(value == value ? rising : 0) << 32 | (0xffffffffu - uint32_t(column));
}
TX_DEVICE int column_of(uint64_t key) { return int(0xffffffffu - uint32_t(key)); }

TX_DEVICE uint64_t warp_best(uint64_t key) {
  for (int step = warp_size / 2; step > 0; step /= 2) {
    const uint64_t other = __shfl_xor_sync(whole_warp, key, step);
    key = other > key ? other : key;
  }
  return key;
}

// f(key) for each of the thread's elements of the row, minus `offset`.
template <class Row, class F>
TX_DEVICE void each_key(const Row& row, float offset, F&& f) {
  row.each([&](const typename Row::P& x, int first, auto count) {
#pragma unroll
    for (int j = 0; j < Row::per; ++j)
      if (j < count) f(key_of(load(x.at[j]) - offset, first + j));
  });
}

// The thread's best element below `limit`, or 0.
template <class Row>
TX_DEVICE uint64_t best_below(const Row& row, float offset, uint64_t limit) {
  uint64_t best = 0;
  each_key(row, offset, [&](uint64_t key) { best = key < limit && key > best ? key : best; });
  return best;
}

// The thread's two best elements, better first.
struct BestTwo {
  uint64_t best, next;  // next is 0 where it is not known
};

// Compares values, which takes a third of the instructions of comparing keys.
template <class Row>
TX_DEVICE BestTwo best_two(const Row& row, float offset) {
  float most = -INFINITY, next = -INFINITY;
  int column = -1, next_column = -1;
  row.each([&](const typename Row::P& x, int first, auto count) {
#pragma unroll
    for (int j = 0; j < Row::per; ++j) {
      const float value = load(x.at[j]) - offset;
      if (j >= count) continue;
      if (value > most) {
        next = most, next_column = column;
        most = value, column = first + j;
      } else if (value > next) {
        next = value, next_column = first + j;
      }
    }
  });
  if (column < 0) return {best_below(row, offset, ~uint64_t(0)), 0};
  return {key_of(most, column), next_column < 0 ? 0 : key_of(next, next_column)};
}

// k rounds of the largest remaining key. A thread keeps its two best, to rescan rarely.
template <class Row, class Emit>
TX_DEVICE void best_in_rounds(const Row& row, float offset, int k, Emit&& emit) {
  __shared__ uint64_t best[2][32];
  const int lane = int(threadIdx.x) % warp_size, warp = int(threadIdx.x) / warp_size;
  const int warps = int(blockDim.x) / warp_size;
  BestTwo mine = best_two(row, offset);
  uint64_t ours = warp_best(mine.best);
  for (int n = 0; n < k; ++n) {
    if (lane == 0) best[n % 2][warp] = ours;
    __syncthreads();
    const uint64_t winner = warp_best(lane < warps ? best[n % 2][lane] : 0);
    if (ours != winner) continue;
    if (mine.best == winner) {
      emit(n, winner);
      mine = {mine.next ? mine.next : best_below(row, offset, winner), 0};
    }
    ours = warp_best(mine.best);
  }
}

// Any k: finds the k-th best key bit by bit, collects the k keys from there on in `found`, and
// ranks them against one another. 20 to 64 passes over the row, for any k, then k * k
// comparisons.
template <class Row, class Emit>
TX_DEVICE void best_by_threshold(const Row& row, float offset, int k, uint64_t* found,
                                 Emit&& emit) {
  __shared__ int part[32];
  __shared__ int used;
  uint64_t threshold = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const uint64_t tried = threshold | uint64_t(1) << bit;
    int count = 0;
    each_key(row, offset, [&](uint64_t key) { count += key >= tried; });
    count = block_sum(count, part);
    if (count >= k) threshold = tried;
    if (count == k) break;
  }
  if (threadIdx.x == 0) used = 0;
  __syncthreads();
  // Where a key lies in `found` depends on timing, its rank does not.
  each_key(row, offset, [&](uint64_t key) {
    if (key >= threshold) found[atomicAdd(&used, 1)] = key;
  });
  __syncthreads();
  for (int n = int(threadIdx.x); n < k; n += int(blockDim.x)) {
    const uint64_t key = found[n];
    int rank = 0;
    for (int j = 0; j < k; ++j) rank += found[j] > key;
    emit(rank, key);
  }
}

constexpr int max_rounds = 64;

struct Best {
  int columns, k;
  bool normalise;
  float* values;    // (R,k)
  int32_t* ids;     // (R,k)
  uint64_t* found;  // (R,k), for k above max_rounds
};

template <class Row>
TX_DEVICE float log_sum_exp(const Row& row, SoftmaxParts& parts) {
  const SoftmaxSums sums = softmax_sums(row, parts);
  return sums.most + float(log(sums.exponentials));
}

// The k best of row i; value(column) is an element.
template <class Row, class Value>
TX_DEVICE void best_of_row(const Row& row, int64_t i, int k, const Best& b, Value&& value) {
  __shared__ SoftmaxParts parts;
  const float offset = b.normalise ? log_sum_exp(row, parts) : 0;
  const auto emit = [&](int n, uint64_t key) {
    const int column = column_of(key);
    b.values[i * b.k + n] = value(column) - offset;
    b.ids[i * b.k + n] = column;
  };
  if (b.k <= max_rounds)
    best_in_rounds(row, offset, k, emit);
  else
    best_by_threshold(row, offset, k, b.found + i * b.k, emit);
}

template <class T, bool packed, bool cached>
__global__ void best_of_rows(Matrix logits, Best b) {
  wait_for_earlier();
  const int64_t i = blockIdx.x;
  const T* x = start_of_row<T>(logits, i);
  best_of_row(LogitRow<T, packed, cached>(x, b.columns), i, b.k, b,
              [&](int column) { return load(x[column]); });
}

// The elements of a list of a row's columns, as a LogitRow of the gathered row in a block of
// `threads` threads; further threads have none.
template <class T, bool cached>
class ListedRow {
 public:
  static constexpr int per = 16 / int(sizeof(T));
  using Element = T;
  using P = Pack<T, per>;

  TX_DEVICE ListedRow(const T* x, const int32_t* columns, int count, int threads)
      : x_(x), columns_(columns), count_(count), threads_(threads) {
    if constexpr (cached) {
      copies_ = dynamic_shared<P>();
      for (int p = begin(); p * per < count; p += threads) copies_[p] = read(p);
    }
  }
  template <class F>
  TX_DEVICE void each(F&& f) const {
    for (int p = begin(); p * per < count_; p += threads_) {
      const int first = p * per;
      const P pack = get(p);
      if (first + per <= count_)
        f(pack, first, Count<per>());
      else
        f(pack, first, count_ - first);
    }
  }

 private:
  TX_DEVICE int begin() const { return int(threadIdx.x) < threads_ ? int(threadIdx.x) : count_; }
  TX_DEVICE P get(int p) const {
    if constexpr (cached) return copies_[p];
    return read(p);
  }
  TX_DEVICE P read(int p) const {
    P pack{};
#pragma unroll
    for (int j = 0; j < per; ++j)
      if (p * per + j < count_) pack.at[j] = x_[columns_[p * per + j]];
    return pack;
  }

  const T* x_;
  const int32_t* columns_;
  P* copies_ = nullptr;
  int count_, threads_;
};

template <class T, bool cached>
__global__ void best_of_lists(Matrix logits, RowLists lists, Best b, int shared_limit) {
  wait_for_earlier();
  const int64_t i = blockIdx.x;
  const int count = lists.count[i], k = count < b.k ? count : b.k;
  const T* x = start_of_row<T>(logits, i);
  const int32_t* columns = lists.columns + lists.first[i];
  for (int n = k + int(threadIdx.x); n < b.k; n += int(blockDim.x)) {
    b.values[i * b.k + n] = -INFINITY;
    b.ids[i * b.k + n] = -1;
  }
  if (count == 0) return;
  const int threads = threads_for((int64_t(count) * int(sizeof(T)) + 15) / 16, shared_limit);
  best_of_row(ListedRow<T, cached>(x, columns, count, threads), i, k, b,
              [&](int place) { return load(x[columns[place]]); });
}

template <class T, bool packed, bool cached>
__global__ void log_softmax_rows(Matrix logits, int columns, Matrix out, bool out_packed) {
  using Row = LogitRow<T, packed, cached>;
  __shared__ SoftmaxParts parts;
  wait_for_earlier();
  const int64_t i = blockIdx.x;
  const Row row(start_of_row<T>(logits, i), columns);
  float* y = start_of_row<float>(out, i);
  const float offset = log_sum_exp(row, parts);
  row.each([&](const typename Row::P& x, int first, auto count) {
    Pack<float, Row::per> value;
#pragma unroll
    for (int j = 0; j < Row::per; ++j) value.at[j] = load(x.at[j]) - offset;
    if (out_packed && count == Row::per) {
#pragma unroll
      for (int j = 0; j < Row::per; j += 4)
        *reinterpret_cast<Pack<float, 4>*>(y + first + j) =
            *reinterpret_cast<const Pack<float, 4>*>(value.at + j);
    } else {
#pragma unroll
      for (int j = 0; j < Row::per; ++j)
        if (j < count) y[first + j] = value.at[j];
    }
  });
}

void find_scratch(Cuda::State& s, const Matrix& x, Best& b) {
  if (b.k > max_rounds)
    b.found = static_cast<uint64_t*>(s.scratch(size_t(x.rows) * size_t(b.k) * sizeof(uint64_t)));
}

void best(Cuda::State& s, const Matrix& x, Best b) {
  TX_ASSERT(b.k <= b.columns);
  if (x.rows == 0 || b.k < 1) return;
  find_scratch(s, x, b);
  const RowPlan plan = plan_rows(s, x, b.columns);
  with_type(x.dtype, [&](auto t) {
    with_plan(plan, [&](auto packed, auto cached) {
      launch_early(s, best_of_rows<decltype(t), decltype(packed)::value, decltype(cached)::value>,
                   dim3(unsigned(x.rows)), plan.threads, plan.shared, x, b);
    });
  });
}

}  // namespace

void Cuda::log_softmax(Matrix logits, int64_t vocabulary, Matrix out) {
  const Timed timed(*state_, "search", traffic(logits, out));
  if (logits.rows == 0) return;
  const RowPlan plan = plan_rows(*state_, logits, vocabulary);
  with_type(logits.dtype, [&](auto t) {
    with_plan(plan, [&](auto packed, auto cached) {
      launch_early(*state_,
                   log_softmax_rows<decltype(t), decltype(packed)::value, decltype(cached)::value>,
                   dim3(unsigned(logits.rows)), plan.threads, plan.shared, logits, int(vocabulary),
                   out, rows_aligned(out));
    });
  });
}

void Cuda::topk(Matrix x, int64_t columns, int k, float* values, int32_t* ids) {
  const Timed timed(*state_, "search", traffic(x));
  best(*state_, x, {int(columns), k, false, values, ids, nullptr});
}

void Cuda::log_softmax_topk(Matrix logits, int64_t vocabulary, int k, float* values, int32_t* ids) {
  const Timed timed(*state_, "search", traffic(logits));
  best(*state_, logits, {int(vocabulary), k, true, values, ids, nullptr});
}

// Blocks have the threads of the longest possible list, of which each row uses those of its own.
void Cuda::log_softmax_topk_of_lists(Matrix logits, const RowLists& lists, int k, float* values,
                                     int32_t* ids) {
  const Timed timed(*state_, "search", traffic(logits));
  if (logits.rows == 0 || k < 1) return;
  Best b{int(logits.cols), k, true, values, ids, nullptr};
  find_scratch(*state_, logits, b);
  const RowPlan plan = plan_rows(*state_, logits, logits.cols);
  const int threads = plan.cached ? plan.threads : 1024;
  with_type(logits.dtype, [&](auto t) {
    const auto kernel =
        plan.cached ? best_of_lists<decltype(t), true> : best_of_lists<decltype(t), false>;
    launch_early(*state_, kernel, dim3(unsigned(logits.rows)), threads, plan.shared, logits, lists,
                 b, state_->shared_bytes_limit);
  });
}

}  // namespace tx
