// All metrics: by name, with their options, and as JSON, in which files of statistics carry them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/eval/metrics/metric.h"

namespace tx {

using Metrics = std::vector<std::unique_ptr<Metric>>;

// Every metric with values of its options, and which of them are wanted.
class MetricOptions {
 public:
  MetricOptions();
  void describe(Options& options);  // --metric, and a group of options for each metric
  // The metrics wanted in the order of their names, as sacreBLEU prints them. Throws UsageError: a
  // name is unknown or given twice, or options contradict each other.
  Metrics make() const;

  std::string names = "bleu";  // with commas between

 private:
  std::vector<std::unique_ptr<MetricKind>> kinds_;
};

// "BLEU, chrF, TER as sacreBLEU; F1 of trees".
std::string metrics_summary();
std::vector<std::string> metric_names();
// Whether the text is the name of a metric, or several with commas between.
bool names_metrics(const std::string& text);

// The form of the files that these metrics read, all the same one. Throws UsageError where they
// read different ones.
MakeForm form_of(const Metrics& metrics);

// One object per metric, as Metric::describe() has it.
Json metrics_to_json(const Metrics& metrics);
// Metrics that score such statistics but cannot measure text. Throws DataError that begins with
// `where`.
Metrics metrics_from_json(const Json& json, const std::string& where);

}  // namespace tx
