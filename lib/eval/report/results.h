// What tx-bleu prints about whole texts, from the statistics of systems: scores, confidence and
// tests by resampling, as lines, a table or JSON.
#pragma once
#include <string>
#include <vector>

#include "lib/eval/metrics.h"
#include "lib/eval/report/report.h"
#include "lib/eval/report/systems.h"
#include "lib/eval/scoring.h"

namespace tx {

// The score of one metric with its signature.
Score signed_score(const Metric& metric, std::span<const double> sums, const RunSettings& run);

// One row per system. The rows kept in `systems` are used up.
std::vector<TableRow> score_systems(const ScoringOptions& options, const Metrics& metrics,
                                    std::vector<System> systems);

// Lines, a table or JSON, as the options ask.
std::string results_text(const ScoringOptions& options, const std::vector<TableRow>& table);

}  // namespace tx
