// The metrics by name, with all their options; as JSON, in which files of statistics carry them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/eval/metrics/bleu.h"
#include "lib/eval/metrics/brackets.h"
#include "lib/eval/metrics/chrf.h"
#include "lib/eval/metrics/ter.h"

namespace tx {

struct MetricOptions {
  std::string names = "bleu";  // separated by commas: bleu, chrf, chrf++, f1, ter
  BleuOptions bleu;
  ChrfOptions chrf;  // chrf++ is chrf with a word order of 2
  TercomOptions ter;
  BracketOptions f1;
};

using Metrics = std::vector<std::unique_ptr<Metric>>;

// In the order bleu, chrf, chrf++, f1, ter, whatever the order of the names, as sacreBLEU prints
// them. Throws UsageError: a name is unknown or given twice, or options contradict each other.
Metrics make_metrics(const MetricOptions& options);

// One object per metric: its name ("metric"), and everything its statistics depend on. What only
// scores depend on (smoothing) is in it as well.
Json metrics_to_json(const MetricOptions& options, const Metrics& metrics);
// Metrics that score such statistics but cannot measure text. Throws DataError that begins with
// `where`.
Metrics metrics_from_json(const Json& json, const std::string& where);

}  // namespace tx
