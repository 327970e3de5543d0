#include "kernels/cuda/rows/vocabulary.h"
#include "kernels/cuda/runtime/profile.h"

namespace tx {
namespace {

// The contribution of one row to the record.
struct RowLoss {
  double loss, nll, consistency;
  int32_t correct, labels;
};

TX_DEVICE RowLoss loss_of(const SoftmaxSums& sums, float label_logit, int vocabulary,
                          double smoothing) {
  const double log_sum = log(sums.exponentials);
  const double log_label = double(label_logit - sums.most) - log_sum;
  RowLoss row;
  row.nll = -log_label;
  row.loss = -(1 - smoothing) * log_label;
  if (smoothing > 0) {
    const double log_all = sums.total - double(vocabulary) * log_sum;  // may be infinite
    row.loss -= smoothing / double(vocabulary - 1) * (log_all - log_label);
  }
  row.correct = label_logit >= sums.most;
  row.labels = 1;
  row.consistency = 0;
  return row;
}

template <class T>
TX_DEVICE void zero_columns(T* x, int64_t first, int64_t end) {
  for (int64_t j = first + threadIdx.x; j < end; j += blockDim.x) store(x[j], 0.0f);
}

// logits (T,Vp): one block per row; rows[i] is what row i adds, and its logits become the gradient.
template <class T, bool packed, bool cached>
__global__ void loss_rows(Matrix logits, const int32_t* labels, int vocabulary, double smoothing,
                          bool gradient, const StepRecord* record, RowLoss* rows) {
  using Row = LogitRow<T, packed, cached>;
  __shared__ SoftmaxParts parts;
  const int64_t i = blockIdx.x;
  T* x = start_of_row<T>(logits, i);
  const int label = labels[i];
  if (label < 0) {
    if (threadIdx.x == 0) rows[i] = RowLoss{};
    if (gradient) zero_columns(x, 0, logits.cols);
    return;
  }
  const float label_logit = load(x[label]);
  const Row row(x, vocabulary);
  const SoftmaxSums sums = softmax_sums(row, parts);
  if (threadIdx.x == 0) rows[i] = loss_of(sums, label_logit, vocabulary, smoothing);
  if (!gradient) return;

  const float scale = float(record->loss_scale), most = sums.most;
  const float inverse = scale / float(sums.exponentials);
  const float q = smoothing > 0 ? float(smoothing / double(vocabulary - 1)) * scale : 0;
  row.each([&](const typename Row::P& pack, int first, auto count) {
    typename Row::P d;
#pragma unroll
    for (int j = 0; j < Row::per; ++j)
      store(d.at[j], fmaf(exponential<T>(load(pack.at[j]) - most), inverse, -q));
    if (packed && count == Row::per) {
      *reinterpret_cast<typename Row::P*>(x + first) = d;
    } else {
#pragma unroll
      for (int j = 0; j < Row::per; ++j)
        if (j < count) x[first + j] = d.at[j];
    }
    if (label >= first && label < first + count)
      store(x[label],
            fmaf(exponential<T>(label_logit - most), inverse, -float(1 - smoothing) * scale));
  });
  zero_columns(x, vocabulary, logits.cols);
}

// logits (2R,Vp): one block per pair of rows i and R + i; the derivation is that of PairLoss in
// kernels/cpu/loss.cpp. A thread reads and overwrites the same elements of both rows.
template <class T, bool packed>
__global__ void pair_rows(Matrix logits, const int32_t* labels, int vocabulary, double smoothing,
                          Consistency consistency, const StepRecord* record, RowLoss* rows) {
  using Row = LogitRow<T, packed, false>;
  __shared__ SoftmaxParts parts;
  __shared__ double part[32];
  const int64_t i = blockIdx.x, pairs = gridDim.x;
  T *x = start_of_row<T>(logits, i), *y = start_of_row<T>(logits, pairs + i);
  const int label = labels[i];
  if (label < 0) {
    if (threadIdx.x == 0) rows[i] = RowLoss{};
    zero_columns(x, 0, logits.cols);
    zero_columns(y, 0, logits.cols);
    return;
  }
  const float label_logit = load(x[label]);
  const SoftmaxSums p_sums = softmax_sums(Row(x, vocabulary), parts);
  __syncthreads();
  const SoftmaxSums q_sums = softmax_sums(Row(y, vocabulary), parts);
  const double log_p = log(p_sums.exponentials), log_q = log(q_sums.exponentials);
  const float offset = float(double(q_sums.most) - double(p_sums.most) + log_q - log_p);
  const float p_scale = 1 / float(p_sums.exponentials), q_scale = 1 / float(q_sums.exponentials);
  double forward = 0, reverse = 0;
  for (int j = int(threadIdx.x); j < vocabulary; j += int(blockDim.x)) {
    const float a = load(x[j]), b = load(y[j]), r = a - b + offset;
    forward += double(exponential<T>(a - p_sums.most) * p_scale * r);
    if (consistency.symmetric) reverse -= double(exponential<T>(b - q_sums.most) * q_scale * r);
  }
  forward = block_sum(forward, part);
  reverse = block_sum(reverse, part);
  if (threadIdx.x == 0) {
    rows[i] = loss_of(p_sums, label_logit, vocabulary, smoothing);
    rows[i].consistency = consistency.symmetric ? (forward + reverse) / 2 : forward;
  }
  const float kl = float(forward), back = float(reverse);
  const float scale = float(record->loss_scale), both = consistency.symmetric ? 1.0f : 0.0f;
  const float weight = float(consistency.symmetric ? consistency.weight / 2 : consistency.weight);
  const float others = smoothing > 0 ? float(smoothing / double(vocabulary - 1)) : 0;
  for (int j = int(threadIdx.x); j < vocabulary; j += int(blockDim.x)) {
    const float a = load(x[j]), b = load(y[j]), r = a - b + offset;
    const float p = exponential<T>(a - p_sums.most) * p_scale;
    const float q = exponential<T>(b - q_sums.most) * q_scale;
    const float target = j == label ? float(1 - smoothing) : others;
    store(x[j], (p - target + (p * (r - kl) + (p - q) * both) * weight) * scale);
    store(y[j], ((q - target) * both + (q - p - q * (r + back) * both) * weight) * scale);
  }
  zero_columns(x, vocabulary, logits.cols);
  zero_columns(y, vocabulary, logits.cols);
}

// One block: each thread adds every blockDim-th row, then their sums are added in a fixed order.
__global__ void add_rows(const RowLoss* rows, int64_t count, StepRecord* record) {
  __shared__ double part[32];
  __shared__ int counts[32];
  double loss = 0, nll = 0, consistency = 0;
  int correct = 0, labels = 0;
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    const RowLoss row = rows[i];
    loss += row.loss;
    nll += row.nll;
    consistency += row.consistency;
    correct += row.correct;
    labels += row.labels;
  }
  loss = block_sum(loss, part);
  nll = block_sum(nll, part);
  consistency = block_sum(consistency, part);
  correct = block_sum(correct, counts);
  labels = block_sum(labels, counts);
  if (threadIdx.x != 0) return;
  record->loss += loss;
  record->nll += nll;
  record->consistency += consistency;
  record->correct += correct;
  record->labels += labels;
}

__global__ void add_records(const StepRecord* from, StepRecord* to) {
  to->loss += from->loss;
  to->nll += from->nll;
  to->correct += from->correct;
  to->labels += from->labels;
  to->guided += from->guided;
  to->guided_rows += from->guided_rows;
  to->consistency += from->consistency;
}

}  // namespace

void Cuda::cross_entropy(Matrix logits, const int32_t* labels, int64_t vocabulary, double smoothing,
                         bool gradient, StepRecord* record) {
  const Timed timed(*state_, "loss", traffic(logits, gradient ? logits : Matrix()));
  if (logits.rows == 0) return;
  auto* rows = static_cast<RowLoss*>(state_->scratch(size_t(logits.rows) * sizeof(RowLoss)));
  const RowPlan plan = plan_rows(*state_, logits, vocabulary);
  with_type(logits.dtype, [&](auto t) {
    with_plan(plan, [&](auto packed, auto cached) {
      launch(*state_, loss_rows<decltype(t), decltype(packed)::value, decltype(cached)::value>,
             dim3(unsigned(logits.rows)), plan.threads, plan.shared, logits, labels,
             int(vocabulary), smoothing, gradient, record, rows);
    });
  });
  launch(*state_, add_rows, dim3(1), block_for(logits.rows / 8, 1024), 0, rows, logits.rows,
         record);
}

void Cuda::consistency_loss(Matrix logits, const int32_t* labels, int64_t vocabulary,
                            double smoothing, const Consistency& consistency, StepRecord* record) {
  const Timed timed(*state_, "loss", traffic(logits, logits));
  const int64_t pairs = logits.rows / 2;
  if (pairs == 0) return;
  auto* rows = static_cast<RowLoss*>(state_->scratch(size_t(pairs) * sizeof(RowLoss)));
  const RowPlan plan = plan_rows(*state_, logits, vocabulary);
  with_type(logits.dtype, [&](auto t) {
    with_plan(plan, [&](auto packed, auto) {
      launch(*state_, pair_rows<decltype(t), decltype(packed)::value>, dim3(unsigned(pairs)),
             plan.threads, 0, logits, labels, int(vocabulary), smoothing, consistency, record,
             rows);
    });
  });
  launch(*state_, add_rows, dim3(1), block_for(pairs / 8, 1024), 0, rows, pairs, record);
}

void Cuda::add_sums(const StepRecord* from, StepRecord* to) {
  const Timed timed(*state_, "loss", {2.0 * sizeof(StepRecord), 0});
  launch(*state_, add_records, dim3(1), 1, 0, from, to);
}

}  // namespace tx
