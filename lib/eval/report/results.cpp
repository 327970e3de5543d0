#include "lib/eval/report/results.h"

#include <cmath>

#include "lib/eval/resampling/resampling.h"
#include "lib/eval/resampling/significance.h"

namespace tx {
namespace {

RunSettings run_settings(const ScoringOptions& options, const System& system) {
  RunSettings run;
  run.references = system.references.text();
  if (options.confidence || options.paired_bootstrap) run.resamples = options.resamples;
  if (options.paired_approximate) run.trials = options.trials;
  if (options.resamples_segments()) run.seed = options.seed;
  return run;
}

// Adds the results of resampling to a table of scores: all metrics and systems have the same draws.
class Tests {
 public:
  Tests(const ScoringOptions& options, const Metrics& metrics, std::vector<System> systems,
        std::vector<TableRow>& table)
      : options_(options), metrics_(metrics), table_(table), systems_(systems.size()) {
    for (size_t m = 0; m < metrics.size(); ++m) {
      for (System& system : systems) rows_.push_back(std::move(system.rows[m]));
    }
  }

  void run() {
    if (options_.paired_approximate) randomize();
    if (options_.confidence || options_.paired_bootstrap) resample();
  }

 private:
  size_t place(size_t metric, size_t system) const { return metric * systems_ + system; }

  double difference(size_t metric, size_t system) const {
    return std::abs(table_[0].scores[metric].value - table_[system].scores[metric].value);
  }

  void randomize() {
    std::vector<SystemPair> pairs;
    for (size_t m = 0; m < metrics_.size(); ++m) {
      for (size_t i = 1; i < systems_; ++i) {
        pairs.push_back({&rows_[place(m, 0)], &rows_[place(m, i)], difference(m, i)});
      }
    }
    const std::vector<double> p_values =
        paired_randomization(pairs, {options_.trials, options_.seed, options_.threads});
    size_t next = 0;
    for (size_t m = 0; m < metrics_.size(); ++m) {
      for (size_t i = 1; i < systems_; ++i) table_[i].p_values[m] = p_values[next++];
    }
  }

  void resample() {
    const auto scores = bootstrap(rows_, {options_.resamples, options_.seed, options_.threads});
    for (size_t m = 0; m < metrics_.size(); ++m) {
      for (size_t i = 0; i < systems_; ++i) {
        judge(m, i, scores[place(m, 0)], scores[place(m, i)]);
      }
    }
  }

  void judge(size_t m, size_t i, const std::vector<double>& baseline,
             const std::vector<double>& scores) {
    const Metric& metric = *metrics_[m];
    Score& score = table_[i].scores[m];
    if (options_.confidence) {
      score.confidence = confidence(metric, scores);
    } else if (i == 0) {
      score.confidence = numpy_confidence(metric, scores);
    } else {
      const Significance found = paired_bootstrap(metric, baseline, scores, difference(m, i));
      score.confidence = found.confidence;
      table_[i].p_values[m] = found.p_value;
    }
  }

  const ScoringOptions& options_;
  const Metrics& metrics_;
  std::vector<TableRow>& table_;
  size_t systems_;
  std::vector<SystemRows> rows_;  // those of a metric side by side
};

std::string one_system_text(const ScoringOptions& options, const std::vector<Score>& scores) {
  if (options.score_only) {
    std::string text;
    for (const Score& score : scores) text += score_text(score, options.width) + "\n";
    return text;
  }
  if (!options.json) return score_lines(scores, options.width);
  Json list = Json::array();
  for (const Score& score : scores) list.push_back(score_json(score, options.width));
  return to_text(scores.size() == 1 ? list[0] : list, 1) + "\n";
}

}  // namespace

Score signed_score(const Metric& metric, std::span<const double> sums, const RunSettings& run) {
  Score score = metric.score(sums);
  score.signature = signature(metric, run);
  return score;
}

std::vector<TableRow> score_systems(const ScoringOptions& options, const Metrics& metrics,
                                    std::vector<System> systems) {
  std::vector<TableRow> table;
  const bool paired = options.paired_bootstrap || options.paired_approximate;
  for (const System& system : systems) {
    TableRow& row = table.emplace_back();
    row.system = (paired && table.size() == 1 ? "Baseline: " : "") + system.name;
    for (size_t m = 0; m < metrics.size(); ++m) {
      row.scores.push_back(
          signed_score(*metrics[m], system.sums[m], run_settings(options, system)));
      row.p_values.emplace_back();
    }
  }
  if (options.resamples_segments()) Tests(options, metrics, std::move(systems), table).run();
  return table;
}

std::string results_text(const ScoringOptions& options, const std::vector<TableRow>& table) {
  if (table.size() == 1) return one_system_text(options, table[0].scores);
  if (options.json) return to_text(table_json(table, options.width), 1) + "\n";
  if (!options.score_only) return table_text(table, options.width);
  std::string text;
  for (const TableRow& row : table) {
    std::string line;
    for (const Score& score : row.scores) {
      line += (line.empty() ? "" : "\t") + score_text(score, options.width);
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace tx
