// Confidence and significance from the statistics of the segments (Koehn, EMNLP 2004; Riezler and
// Maxwell, 2005), as sacreBLEU 2.6 computes them, random numbers included. With the same seed the
// figures are sacreBLEU's in every digit, but for two cases: TER against several references in
// approximate randomisation, where a matrix product there adds fractions in an order of its own,
// and BLEU with a fractional add-k value there, which sacreBLEU cuts to a whole number.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lib/eval/metrics/metric.h"

namespace tx {

// Statistics of one system's segments, one after another: rows of metric.size().
struct SystemRows {
  const Metric* metric = nullptr;  // not owned
  std::vector<double> rows;
  int64_t segments() const { return int64_t(rows.size() / metric->size()); }
};

struct Resampling {
  int64_t count = 1000;  // resamples or trials
  uint64_t seed = 12345;
  int threads = 1;  // the result does not depend on them
};

// The scores of `count` corpora, each drawn from the segments with replacement; the same draws for
// every system, in whose order they are returned. All systems have the same number of segments, at
// least one; their metrics may differ.
std::vector<std::vector<double>> bootstrap(std::span<const SystemRows> systems,
                                           const Resampling& resampling);

// A system against a baseline by approximate randomisation: p is how often two systems whose
// outputs are exchanged at random, segment by segment, differ by more than `difference`. All
// systems have the same number of segments; the same exchanges for every pair, whose p are returned
// in order.
struct SystemPair {
  const SystemRows *baseline = nullptr, *system = nullptr;  // not owned; of one metric
  double difference = 0;
};
std::vector<double> paired_randomization(std::span<const SystemPair> pairs,
                                         const Resampling& resampling);

}  // namespace tx
