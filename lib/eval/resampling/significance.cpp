#include "lib/eval/resampling/significance.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace tx {
namespace {

// numpy's sum of an array: halves down to 128 values, eight sums side by side in each.
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
  for (; i < n - n % 8; i += 8) {
    for (size_t k = 0; k < 8; ++k) r[k] += values[i + k];
  }
  T sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  for (; i < n; ++i) sum += values[i];
  return sum;
}

template <class T>
T pairwise_mean(std::span<const T> values) {
  return pairwise_sum(values) / T(values.size());
}

// The mean as if of the exact sum, rounded once: the sum of doubles carries along what rounding
// took from it (Neumaier), and the quotient is corrected by its remainder.
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

// Of sorted scores, a fortieth left out at each end.
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
