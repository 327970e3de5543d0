// Scores in the formats of sacreBLEU, and the scores of whole systems with confidence and tests.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/eval/metrics.h"
#include "lib/eval/report/scoring.h"
#include "lib/eval/report/systems.h"

namespace tx {

// "nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0". `run`: its first
// part, of the run rather than the metric, up to the seed.
std::string signature(const Metric& metric, const std::string& run);

// "27.3 (μ = 27.2 ± 0.8)", or without resampling "27.3".
std::string score_text(const Score& score, int width);

// "BLEU|nrefs:1|... = 27.3 58.1/33.0/21.0/13.7 (BP = 1.000 ...)"
std::string score_line(const Score& score, int width);

// The lines of several metrics with aligned equals signs, each with its newline.
std::string score_lines(const std::vector<Score>& scores, int width);

// sacreBLEU's keys (name, score rounded to width, signature, confidence and verbose_score if there
// are any, each setting of the signature), then the object "statistics".
Json score_json(const Score& score, int width);

// One system's scores, for a table of several.
struct TableRow {
  std::string system;
  std::vector<Score> scores;                    // of every metric
  std::vector<std::optional<double>> p_values;  // against the first row
};

// Aligned columns, "27.3 (27.2 ± 0.8) (p = 0.0120)*", * for p <= 0.05; then the signatures.
std::string table_text(const std::vector<TableRow>& rows, int width);
// One object per system: system, and for each metric score, p_value, mean, ci and signature.
Json table_json(const std::vector<TableRow>& rows, int width);

// The score of one metric with its signature.
Score signed_score(const Metric& metric, std::span<const double> sums, const std::string& run);

// One row per system, with confidence and tests by resampling.
std::vector<TableRow> score_systems(const ScoringOptions& options, const Metrics& metrics,
                                    std::vector<System> systems);

// Lines, a table or JSON, according to the options.
std::string results_text(const ScoringOptions& options, const std::vector<TableRow>& table);

}  // namespace tx
