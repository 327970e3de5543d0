// Results from resampled scores: their mean and spread, and whether two systems differ. Every
// figure equals sacreBLEU 2.6's for the same scores.
#pragma once
#include <vector>

#include "lib/eval/metrics/metric.h"

namespace tx {

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

// The share of resamples that differ as much, where `larger` of `count` do: the observed corpus is
// counted as one of them.
double p_value_of(size_t larger, size_t count);

}  // namespace tx
