// The loss of cross_entropy() if the columns of the logits are divided among ranks. For each row a
// rank sends its largest logit m, the sum of exp(x - m), the sum of x - m and, if the rank has it,
// the label's logit. The sums over the vocabulary are computed from those, in rank order. The
// logits become their gradient, as in cross_entropy(). Kept: nothing else.
#include <cmath>

#include "lib/ops/ops.h"

namespace tx {

namespace {

// Sums over a rank's columns of one row, in double as in the kernels.
struct RowSums {
  double max = 0;           // largest logit
  double exponentials = 0;  // of exp(x - max)
  double total = 0;         // of x - max
  double label = 0;         // the label's logit; 0 where another rank has it
};

template <class T>
RowSums sums_of(const T* x, int64_t count, int64_t label) {
  T max = x[0];
  for (int64_t j = 1; j < count; ++j) max = x[j] > max ? x[j] : max;
  RowSums sums;
  for (int64_t j = 0; j < count; ++j) {
    sums.exponentials += double(std::exp(x[j] - max));
    sums.total += double(x[j] - max);
  }
  sums.max = double(max);
  sums.label = label >= 0 && label < count ? double(x[label]) : 0;
  return sums;
}

// The sums over the whole row, from the ranks' sums; rank r has counts[r] columns.
RowSums join(const RowSums* parts, int64_t stride, const std::vector<int64_t>& counts) {
  RowSums whole;
  whole.max = parts[0].max;
  for (size_t r = 1; r < counts.size(); ++r)
    whole.max = std::max(whole.max, parts[int64_t(r) * stride].max);
  for (size_t r = 0; r < counts.size(); ++r) {
    const RowSums& part = parts[int64_t(r) * stride];
    const double lower = part.max - whole.max;
    whole.exponentials += part.exponentials * std::exp(lower);
    whole.total += part.total + double(counts[r]) * lower;
    whole.label += part.label;
  }
  return whole;
}

void add_loss(const RowSums& row, int64_t vocabulary, double smoothing, StepRecord* record) {
  const double log_sum = std::log(row.exponentials);
  const double log_label = row.label - row.max - log_sum;
  record->nll -= log_label;
  double loss = -(1 - smoothing) * log_label;
  if (smoothing > 0) {
    const double log_all = row.total - double(vocabulary) * log_sum;
    loss -= smoothing / double(vocabulary - 1) * (log_all - log_label);
  }
  record->loss += loss;
  record->correct += row.label >= row.max;
  record->labels += 1;
}

// The columns of a rank, its logits x (T,Vp) in f32 or f64.
template <class T>
class Columns {
 public:
  Columns(Matrix x, const int32_t* labels, const SplitVocabulary& tokens, double smoothing)
      : x_(x), labels_(labels), tokens_(tokens), smoothing_(smoothing) {}

  void write_sums(RowSums* sums) const {
    for (int64_t i = 0; i < x_.rows; ++i)
      sums[i] = labels_[i] < 0 ? RowSums{} : sums_of(x_.row<T>(i), tokens_.count, own_label(i));
  }
  void take(const RowSums* all, const std::vector<int64_t>& counts, bool gradient,
            StepRecord* record) const {
    for (int64_t i = 0; i < x_.rows; ++i) {
      if (labels_[i] >= 0) {
        const RowSums row = join(all + i, x_.rows, counts);
        add_loss(row, tokens_.vocabulary, smoothing_, record);
        if (gradient) differentiate(i, row, record->loss_scale);
      } else if (gradient) {
        std::fill_n(x_.row<T>(i), x_.cols, T(0));
      }
    }
  }

 private:
  int64_t own_label(int64_t i) const { return labels_[i] - tokens_.first; }
  void differentiate(int64_t i, const RowSums& row, double scale) const {
    T* x = x_.row<T>(i);
    const double others = smoothing_ > 0 ? smoothing_ / double(tokens_.vocabulary - 1) : 0;
    const T max = T(row.max), inverse = T(scale / row.exponentials), q = T(others * scale);
    const int64_t label = own_label(i);
    const bool here = label >= 0 && label < tokens_.count;
    const T at_label =
        here ? std::exp(x[label] - max) * inverse - T((1 - smoothing_) * scale) : T(0);
    for (int64_t j = 0; j < tokens_.count; ++j) x[j] = std::exp(x[j] - max) * inverse - q;
    if (here) x[label] = at_label;
    std::fill(x + tokens_.count, x + x_.cols, T(0));
  }

  Matrix x_;
  const int32_t* labels_;
  SplitVocabulary tokens_;
  double smoothing_;
};

std::vector<int64_t> counts_of(Communicator& ranks, int64_t own) {
  std::vector<int64_t> counts(size_t(ranks.size()));
  ranks.gather_all(&own, sizeof own, counts.data());
  return counts;
}

}  // namespace

void split_cross_entropy(Context& context, Tensor logits, const int32_t* labels,
                         const SplitVocabulary& tokens, double smoothing, StepRecord* record,
                         Communicator& ranks) {
  TX_ASSERT(tokens.count > 0 && tokens.count <= logits.cols() && tokens.vocabulary > 1);
  TX_ASSERT(tokens.first >= 0 && tokens.first + tokens.count <= tokens.vocabulary);
  constexpr int64_t width = sizeof(RowSums) / sizeof(double);
  const bool narrow = logits.dtype() == DType::bf16;
  const Tensor x = narrow ? context.make(logits.rows(), logits.cols(), DType::f32) : logits;
  const Tensor own = context.make(logits.rows(), width, DType::f64);
  const Tensor all = context.make(ranks.size() * logits.rows(), width, DType::f64);
  context.run([&](auto& k) {
    TX_ASSERT(!k.has_own_memory());
    if (narrow) k.convert(logits.value(), x.value());
    const auto run = [&]<class T>(const Columns<T>& columns) {
      columns.write_sums(static_cast<RowSums*>(own.value().data));
      ranks.gather_all(own.value().data, size_t(own.rows()) * sizeof(RowSums), all.value().data);
      columns.take(static_cast<const RowSums*>(all.value().data), counts_of(ranks, tokens.count),
                   context.recording, record);
    };
    if (x.dtype() == DType::f64)
      run(Columns<double>(x.value(), labels, tokens, smoothing));
    else
      run(Columns<float>(x.value(), labels, tokens, smoothing));
    if (narrow && context.recording) k.convert(x.value(), logits.value());
  });
  if (context.recording) context.gradient_in_place(logits);
}

}  // namespace tx
