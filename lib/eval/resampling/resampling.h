// Confidence and significance from the statistics of the segments (Koehn, EMNLP 2004; Riezler and
// Maxwell, 2005), with the random numbers of sacreBLEU 2.6. All digits equal its own, except in
// approximate randomisation: TER against several references, whose fractions it adds in another
// order, and BLEU with a fractional add-k value, which it truncates to a whole number.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lib/eval/metric.h"

namespace tx {

// The statistics of a system's segments: rows of metric.size() numbers.
struct SystemRows {
  const Metric* metric = nullptr;  // not owned
  std::vector<double> rows;
  int64_t segments() const { return int64_t(rows.size() / metric->size()); }
};

struct Resampling {
  int64_t count = 1000;  // resamples or trials
  uint64_t seed = 12345;
  int threads = 1;  // do not affect the result
};

// The scores of `count` corpora drawn with replacement, with the same draws for each system.
std::vector<std::vector<double>> bootstrap(std::span<const SystemRows> systems,
                                           const Resampling& resampling);

// Approximate randomisation of a system against a baseline: p is how often two systems whose
// outputs are swapped at random, segment by segment, differ by more than `difference`. All systems
// must have the same number of segments; all pairs use the same swaps.
struct SystemPair {
  const SystemRows *baseline = nullptr, *system = nullptr;  // not owned; of one metric
  double difference = 0;
};
std::vector<double> paired_randomization(std::span<const SystemPair> pairs,
                                         const Resampling& resampling);

// From a system's resampled scores, with the correctly rounded mean of sacreBLEU's --confidence.
Confidence confidence(const Metric& metric, std::vector<double> scores);

// Paired bootstrap of a system against a baseline: how often the difference of resampled scores
// deviates from its mean by more than the scores differ. The mean is computed like numpy's.
struct Significance {
  double p_value = 0;
  Confidence confidence;  // of the system
};
Significance paired_bootstrap(const Metric& metric, std::vector<double> baseline_scores,
                              std::vector<double> system_scores, double difference);
Confidence numpy_confidence(const Metric& metric, std::vector<double> scores);

// The p-value if `larger` of `count` resamples differ as much; the corpus counts as one more.
double p_value_of(size_t larger, size_t count);

}  // namespace tx
