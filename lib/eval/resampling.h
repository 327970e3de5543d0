// Confidence and significance from the statistics of the segments (Koehn, EMNLP 2004; Riezler and
// Maxwell, 2005), as sacreBLEU 2.6 computes them, random numbers included. With the same seed the
// figures are sacreBLEU's in every digit, but for two cases: TER against several references in
// approximate randomisation, where a matrix product there adds fractions in an order of its own,
// and BLEU with a fractional add-k value there, which sacreBLEU cuts to a whole number.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lib/eval/metric.h"

namespace tx {

// Statistics of one system's segments, one behind another: rows of metric.size().
struct SystemRows {
  const Metric* metric = nullptr;  // not owned
  std::vector<double> rows;
  int64_t segments() const { return int64_t(rows.size() / metric->size()); }
};

struct Resampling {
  int64_t count = 1000;  // resamples or trials
  uint64_t seed = 12345;
};

// The scores of `count` corpora, each drawn from the segments with replacement; the same draws for
// every system, in whose order they are returned. All systems have the same number of segments, at
// least one.
std::vector<std::vector<double>> bootstrap(std::span<const SystemRows> systems,
                                           const Resampling& resampling);

// Of one system's resampled scores: the mean exactly rounded, as sacreBLEU's --confidence has it.
Confidence confidence(const Metric& metric, std::vector<double> scores);

// A system against a baseline by the bootstrap: how often the difference of resampled scores
// deviates from its mean by more than the scores differ. The mean is numpy's.
struct Significance {
  double p_value = 0;
  Confidence confidence;  // of the system
};
Significance paired_bootstrap(const Metric& metric, std::vector<double> baseline_scores,
                              std::vector<double> system_scores, double difference);
Confidence numpy_confidence(const Metric& metric, std::vector<double> scores);

// The same by approximate randomisation: how often two systems whose outputs are exchanged at
// random, segment by segment, differ by more than `difference`.
double paired_randomization(const SystemRows& baseline, const SystemRows& system, double difference,
                            const Resampling& resampling);

}  // namespace tx
