#include "lib/eval/resampling/resampling.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include "lib/base/workers.h"
#include "lib/eval/resampling/numpy_random.h"
#include "lib/eval/resampling/packed_rows.h"

namespace tx {

namespace {

// The rows of a system for bootstrap(): packed, or in single precision if they cannot be packed.
class Summation {
 public:
  explicit Summation(const SystemRows& system)
      : metric_(*system.metric),
        size_(metric_.size()),
        packed_(PackedRows::make(system.rows, size_)) {
    if (!packed_) plain_.assign(system.rows.begin(), system.rows.end());
  }
  // The score of the corpus of these segments; sums is scratch of at least size().
  double score(std::span<const uint32_t> indices, std::span<float> sums) const {
    sums = sums.first(size_);
    if (packed_)
      packed_->sum(indices, sums);
    else
      sum_plain(indices, sums);
    return metric_.value(std::span<const float>(sums));
  }
  size_t size() const { return size_; }

 private:
  // Row by row in single precision, as numpy adds along the first axis.
  void sum_plain(std::span<const uint32_t> indices, std::span<float> sums) const {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (const uint32_t index : indices) {
      const float* row = &plain_[index * size_];
      for (size_t k = 0; k < size_; ++k) sums[k] += row[k];
    }
  }

  const Metric& metric_;
  size_t size_;
  std::optional<PackedRows> packed_;
  std::vector<float> plain_;
};

// Distributes resamples to threads in stretches. The start of a stretch in the stream of random
// words depends on how many words were redrawn before it, about one in a million. A thread uses the
// number known so far, and a stretch for which it was wrong is computed again.
class Stretches {
 public:
  Stretches(int64_t resamples, int64_t segments)
      : resamples_(resamples),
        length_(1 + 65536 / segments),
        done_(size_t((resamples + length_ - 1) / length_)) {}

  struct Stretch {
    size_t index = 0;
    int64_t first = 0, end = 0;  // resamples
    uint64_t redrawn = 0;        // words before it, as far as known
  };
  bool next(Stretch& stretch) {
    const std::lock_guard guard(lock_);
    if (!again_ && issued_ == done_.size()) return false;
    stretch.index = again_ ? settled_ : issued_++;
    again_ = false;
    stretch.first = int64_t(stretch.index) * length_;
    stretch.end = std::min(resamples_, stretch.first + length_);
    stretch.redrawn = redrawn_;
    return true;
  }
  // The stretch is computed; `redrawn` words were redrawn in it.
  void finish(const Stretch& stretch, uint64_t redrawn) {
    const std::lock_guard guard(lock_);
    done_[stretch.index] = Done{stretch.redrawn, redrawn};
    for (; settled_ < done_.size() && done_[settled_]; ++settled_) {
      if (done_[settled_]->before != redrawn_) {
        done_[settled_].reset();
        again_ = true;
        return;
      }
      redrawn_ += done_[settled_]->inside;
    }
  }

 private:
  struct Done {
    uint64_t before, inside;  // words redrawn before it, as assumed, and in it
  };
  int64_t resamples_, length_;
  std::mutex lock_;
  std::vector<std::optional<Done>> done_;
  size_t issued_ = 0, settled_ = 0;  // stretches that were started, and that are correct
  uint64_t redrawn_ = 0;             // in the settled ones
  bool again_ = false;               // the first unsettled stretch must be computed again
};

// The random bits from number `first` on, but for the last word; bits (words + 1).
void draw_bits(NumpyRandom random, uint64_t first, std::span<uint32_t> bits) {
  random.skip(first / 32);
  random.draw_words(bits);
  for (size_t i = 0; i + 1 < bits.size(); ++i)
    bits[i] = uint32_t((uint64_t(bits[i + 1]) << 32 | bits[i]) >> first % 32);
}

// numpy's sum of an array: recursive halves down to 128 values, then eight interleaved sums.
template <class T>
T pairwise_sum(std::span<const T> values) {
  const size_t n = values.size();
  if (n < 8) {
    T sum = 0;
    for (const T value : values) sum += value;
    return sum;
  }
  if (n > 128) {
    const size_t half = n / 2 - n / 2 % 8;
    return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
  }
  T r[8];
  std::copy(values.begin(), values.begin() + 8, r);
  size_t i = 8;
  for (; i < n - n % 8; i += 8)
    for (size_t k = 0; k < 8; ++k) r[k] += values[i + k];
  T sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  for (; i < n; ++i) sum += values[i];
  return sum;
}

template <class T>
T pairwise_mean(std::span<const T> values) {
  return pairwise_sum(values) / T(values.size());
}

// The correctly rounded mean: a compensated sum (Neumaier), a quotient corrected by its remainder.
double exact_mean(const std::vector<double>& values) {
  double sum = 0, lost = 0;
  for (const double value : values) {
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  const auto count = double(values.size());
  const double mean = (sum + lost) / count;
  return mean + (std::fma(-mean, count, sum) + lost) / count;
}

// Of sorted scores, without 2.5 % at each end.
template <class T>
double half_width(const std::vector<T>& sorted) {
  const size_t low = sorted.size() / 40;
  return double(T(0.5) * (sorted[sorted.size() - low - 1] - sorted[low]));
}

template <class T>
std::vector<T> sorted(const std::vector<double>& scores) {
  std::vector<T> values(scores.begin(), scores.end());
  std::sort(values.begin(), values.end());
  return values;
}

template <class T>
Confidence numpy_confidence(const std::vector<double>& scores) {
  const std::vector<T> values = sorted<T>(scores);
  return {double(pairwise_mean<T>(values)), half_width(values)};
}

template <class T>
double bootstrap_p_value(const std::vector<double>& a, const std::vector<double>& b,
                         double difference) {
  std::vector<T> differences(a.size());
  for (size_t i = 0; i < a.size(); ++i) differences[i] = std::abs(T(b[i]) - T(a[i]));
  const T mean = pairwise_mean<T>(differences);
  size_t larger = 0;
  for (const T d : differences) larger += d - mean > T(difference) ? 1 : 0;
  return p_value_of(larger, a.size());
}

}  // namespace

std::vector<std::vector<double>> bootstrap(std::span<const SystemRows> systems,
                                           const Resampling& resampling) {
  const std::vector<Summation> summations(systems.begin(), systems.end());
  const auto segments = size_t(systems.front().segments());
  size_t widest = 0;
  for (const Summation& summation : summations) widest = std::max(widest, summation.size());
  std::vector<std::vector<double>> scores(systems.size(),
                                          std::vector<double>(size_t(resampling.count)));
  const NumpyRandom begin(resampling.seed);
  Stretches stretches(resampling.count, int64_t(segments));
  parallel_for(resampling.threads, resampling.threads, [&](int64_t) {
    std::vector<uint32_t> indices(segments);
    std::vector<float> sums(widest);
    for (Stretches::Stretch stretch; stretches.next(stretch);) {
      NumpyRandom random = begin;
      const uint64_t words = segments > 1 ? uint64_t(stretch.first) * segments : 0;
      random.skip(words + stretch.redrawn);
      uint64_t redrawn = 0;
      for (int64_t i = stretch.first; i < stretch.end; ++i) {
        redrawn += random.draw_indices(indices, segments);
        for (size_t s = 0; s < summations.size(); ++s)
          scores[s][size_t(i)] = summations[s].score(indices, sums);
      }
      stretches.finish(stretch, redrawn);
    }
  });
  return scores;
}

// One pair in paired_randomization(). rows_ has, for each segment, the statistics that swapping the
// two outputs adds to the system's sums and subtracts from the baseline's.
class Exchanges {
 public:
  explicit Exchanges(const SystemPair& pair)
      : metric_(*pair.system->metric),
        size_(metric_.size()),
        difference_(pair.difference),
        rows_(pair.system->rows.size()),
        baseline_(size_, 0.0),
        system_(size_, 0.0) {
    for (size_t k = 0; k < rows_.size(); ++k) {
      rows_[k] = pair.baseline->rows[k] - pair.system->rows[k];
      baseline_[k % size_] += pair.baseline->rows[k];
      system_[k % size_] += pair.system->rows[k];
    }
    subsets_ = SubsetSums::make(rows_, size_);
  }

  // Whether the scores differ by more than pair.difference after these swaps. Scratch: 3 size().
  bool larger(std::span<const uint32_t> bits, std::span<double> scratch) const {
    const std::span<double> sums = scratch.first(size_), a = scratch.subspan(size_, size_),
                            b = scratch.subspan(2 * size_, size_);
    if (subsets_)
      subsets_->sum(bits, sums);
    else
      sum_plain(bits, sums);
    for (size_t k = 0; k < size_; ++k) {
      a[k] = system_[k] + sums[k];
      b[k] = baseline_[k] - sums[k];
    }
    const double value_a = metric_.value(std::span<const double>(a));
    const double value_b = metric_.value(std::span<const double>(b));
    return std::abs(value_a - value_b) > difference_;
  }
  size_t size() const { return size_; }

 private:
  void sum_plain(std::span<const uint32_t> bits, std::span<double> sums) const {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (size_t i = 0; i < rows_.size() / size_; ++i) {
      if ((bits[i / 32] >> i % 32 & 1) == 0) continue;
      for (size_t k = 0; k < size_; ++k) sums[k] += rows_[i * size_ + k];
    }
  }

  const Metric& metric_;
  size_t size_;
  double difference_;
  std::vector<double> rows_;
  Statistics baseline_, system_;
  std::optional<SubsetSums> subsets_;
};

std::vector<double> paired_randomization(std::span<const SystemPair> pairs,
                                         const Resampling& resampling) {
  const std::vector<Exchanges> exchanges(pairs.begin(), pairs.end());
  const auto segments = uint64_t(pairs.front().system->segments());
  size_t widest = 0;
  for (const Exchanges& exchange : exchanges) widest = std::max(widest, exchange.size());
  const NumpyRandom begin(resampling.seed);
  const int64_t threads = resampling.threads, count = resampling.count;
  std::mutex lock;
  std::vector<size_t> larger(pairs.size());
  parallel_for(resampling.threads, threads, [&](int64_t thread) {
    std::vector<uint32_t> bits(size_t(segments + 31) / 32 + 1);
    std::vector<double> scratch(3 * widest);
    std::vector<size_t> found(pairs.size());
    for (int64_t i = count * thread / threads; i < count * (thread + 1) / threads; ++i) {
      draw_bits(begin, uint64_t(i) * segments, bits);
      for (size_t p = 0; p < pairs.size(); ++p) found[p] += exchanges[p].larger(bits, scratch);
    }
    const std::lock_guard guard(lock);
    for (size_t p = 0; p < pairs.size(); ++p) larger[p] += found[p];
  });
  std::vector<double> p_values;
  for (const size_t times : larger) p_values.push_back(p_value_of(times, size_t(count)));
  return p_values;
}

double p_value_of(size_t larger, size_t count) { return double(larger + 1) / double(count + 1); }

Confidence confidence(const Metric& metric, std::vector<double> scores) {
  const double mean = exact_mean(scores);
  if (metric.single_precision()) return {double(float(mean)), half_width(sorted<float>(scores))};
  return {mean, half_width(sorted<double>(scores))};
}

Confidence numpy_confidence(const Metric& metric, std::vector<double> scores) {
  return metric.single_precision() ? numpy_confidence<float>(scores)
                                   : numpy_confidence<double>(scores);
}

Significance paired_bootstrap(const Metric& metric, std::vector<double> baseline_scores,
                              std::vector<double> system_scores, double difference) {
  const double p = metric.single_precision()
                       ? bootstrap_p_value<float>(baseline_scores, system_scores, difference)
                       : bootstrap_p_value<double>(baseline_scores, system_scores, difference);
  return {p, numpy_confidence(metric, std::move(system_scores))};
}

}  // namespace tx
