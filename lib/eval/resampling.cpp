#include "lib/eval/resampling.h"

#include <algorithm>
#include <cmath>

#include "lib/eval/numpy_random.h"

namespace tx {
namespace {

// Rows of single precision, padded so that the sums below are whole vectors.
constexpr size_t lanes = 8;

struct PaddedRows {
  size_t stride = 0;
  std::vector<float> values;
};

PaddedRows padded(const SystemRows& system) {
  const size_t size = system.metric->size(), count = size_t(system.segments());
  PaddedRows rows;
  rows.stride = (size + lanes - 1) / lanes * lanes;
  rows.values.assign(rows.stride * count, 0);
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < size; ++k) {
      rows.values[i * rows.stride + k] = float(system.rows[i * size + k]);
    }
  }
  return rows;
}

// One row after another in single precision, as numpy adds along the first axis.
void sum_rows(const PaddedRows& rows, std::span<const uint32_t> indices, std::span<float> sums) {
  std::fill(sums.begin(), sums.end(), 0.0f);
  for (size_t part = 0; part < rows.stride; part += lanes) {
    float sum[lanes] = {};
    for (const uint32_t index : indices) {
      const float* row = &rows.values[index * rows.stride + part];
      for (size_t k = 0; k < lanes; ++k) sum[k] += row[k];
    }
    std::copy(sum, sum + lanes, &sums[part]);
  }
}

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

double p_value(size_t larger, size_t count) { return double(larger + 1) / double(count + 1); }

template <class T>
double bootstrap_p_value(const std::vector<double>& a, const std::vector<double>& b,
                         double difference) {
  std::vector<T> differences(a.size());
  for (size_t i = 0; i < a.size(); ++i) differences[i] = std::abs(T(b[i]) - T(a[i]));
  const T mean = pairwise_mean<T>(differences);
  size_t larger = 0;
  for (const T d : differences) larger += d - mean > T(difference) ? 1 : 0;
  return p_value(larger, a.size());
}

}  // namespace

std::vector<std::vector<double>> bootstrap(std::span<const SystemRows> systems,
                                           const Resampling& resampling) {
  std::vector<PaddedRows> rows;
  size_t widest = 0;
  for (const SystemRows& system : systems) {
    rows.push_back(padded(system));
    widest = std::max(widest, rows.back().stride);
  }
  std::vector<uint32_t> indices(size_t(systems.front().segments()));
  std::vector<float> sums(widest);
  std::vector<std::vector<double>> scores(systems.size());
  NumpyRandom random(resampling.seed);
  for (int64_t i = 0; i < resampling.count; ++i) {
    random.draw_indices(indices, indices.size());
    for (size_t s = 0; s < systems.size(); ++s) {
      const Metric& metric = *systems[s].metric;
      sum_rows(rows[s], indices, std::span(sums).first(rows[s].stride));
      scores[s].push_back(metric.value(std::span<const float>(sums).first(metric.size())));
    }
  }
  return scores;
}

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

double paired_randomization(const SystemRows& baseline, const SystemRows& system, double difference,
                            const Resampling& resampling) {
  const Metric& metric = *system.metric;
  const size_t size = metric.size(), count = size_t(system.segments());
  std::vector<double> exchanged(system.rows.size());  // what an exchange adds to the system
  Statistics of_baseline(size, 0.0), of_system(size, 0.0);
  for (size_t k = 0; k < exchanged.size(); ++k) {
    exchanged[k] = baseline.rows[k] - system.rows[k];
    of_baseline[k % size] += baseline.rows[k];
    of_system[k % size] += system.rows[k];
  }
  std::vector<uint32_t> chosen(count + 1);
  Statistics a, b;
  NumpyRandom random(resampling.seed);
  size_t larger = 0;
  for (int64_t trial = 0; trial < resampling.count; ++trial) {
    size_t many = 0;
    for (size_t i = 0; i < count; ++i) {
      chosen[many] = uint32_t(i);
      many += random.draw_bit() ? 1 : 0;
    }
    a = of_system;
    b = of_baseline;
    for (size_t i = 0; i < many; ++i) {
      const double* row = &exchanged[chosen[i] * size];
      for (size_t k = 0; k < size; ++k) a[k] += row[k];
    }
    for (size_t k = 0; k < size; ++k) b[k] -= a[k] - of_system[k];
    const double value_a = metric.value(std::span<const double>(a));
    const double value_b = metric.value(std::span<const double>(b));
    larger += std::abs(value_a - value_b) > difference ? 1 : 0;
  }
  return p_value(larger, size_t(resampling.count));
}

}  // namespace tx
