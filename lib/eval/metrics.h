// All metrics by name, with their options, and as JSON in files of statistics.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/eval/metric.h"

namespace tx {

using Metrics = std::vector<std::unique_ptr<Metric>>;

// The options of all metrics, and which metrics are selected.
class MetricOptions {
 public:
  MetricOptions();
  void describe(Options& options);  // --metric, and a group of options for each metric
  // The selected metrics in the order of their names. UsageError: unknown, repeated or in conflict.
  Metrics make() const;

  std::string names = "bleu";  // comma-separated

 private:
  std::vector<std::unique_ptr<MetricKind>> kinds_;
};

// The metric of that name, with its default options.
std::unique_ptr<Metric> make_metric(const std::string& name);

// "BLEU, chrF, TER as in sacreBLEU; F1 of trees".
std::string metrics_summary();
std::vector<std::string> metric_names();
// Whether the text is a comma-separated list of metrics.
bool names_metrics(const std::string& text);

// The form of the files that these metrics read. UsageError if they read different forms.
MakeForm form_of(const Metrics& metrics);

// One object per metric, from Metric::describe().
Json metrics_to_json(const Metrics& metrics);
// Metrics that score statistics but cannot score text. Throws DataError that begins with `where`.
Metrics metrics_from_json(const Json& json, const std::string& where);

}  // namespace tx
