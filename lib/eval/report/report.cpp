#include "lib/eval/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/utf8.h"
#include "lib/eval/resampling/resampling.h"
#include "lib/eval/tokenizers/unicode.h"

namespace tx {

namespace {

// Rounds a score for JSON. JSON has no infinity, which an edited file of statistics can yield.
double rounded(double value, int width) {
  if (!std::isfinite(value)) throw DataError("the statistics give no finite score");
  return std::strtod(fixed(value, width).c_str(), nullptr);
}

std::string interval(const Confidence& confidence, int width) {
  return fixed(confidence.mean, width) + " ± " + fixed(confidence.half_width, width);
}

std::string cell(const Score& score, const std::optional<double>& p_value, int width) {
  std::string text = fixed(score.value, width);
  if (score.confidence) text += " (" + interval(*score.confidence, width) + ")";
  if (p_value) text += " (p = " + fixed(*p_value, 4) + ")" + (*p_value > 0.05 ? "" : "*");
  return text;
}

using Line = std::vector<std::string>;

std::string aligned(const std::vector<Line>& lines) {
  std::vector<size_t> widths(lines.front().size(), 0);
  for (const Line& line : lines)
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], count_characters(line[i]));
  std::string text;
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      text += line[i];
      const bool last = i + 1 == line.size();
      text += last ? "\n" : std::string(widths[i] - count_characters(line[i]) + 2, ' ');
    }
  }
  return text;
}

std::string run_settings(const ScoringOptions& options, const System& system) {
  std::string run = "nrefs:" + system.references.text();
  if (options.confidence || options.paired_bootstrap)
    run += "|bs:" + std::to_string(options.resamples);
  if (options.paired_approximate) run += "|ar:" + std::to_string(options.trials);
  if (options.resamples_segments()) run += "|seed:" + std::to_string(options.seed);
  return run;
}

// Adds the results of resampling to a table, with the same draws for all metrics and systems.
class Tests {
 public:
  Tests(const ScoringOptions& options, const Metrics& metrics, std::vector<System> systems,
        std::vector<TableRow>& table)
      : options_(options), metrics_(metrics), table_(table), systems_(systems.size()) {
    for (size_t m = 0; m < metrics.size(); ++m)
      for (System& system : systems) rows_.push_back(std::move(system.rows[m]));
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
    for (size_t m = 0; m < metrics_.size(); ++m)
      for (size_t i = 1; i < systems_; ++i)
        pairs.push_back({&rows_[place(m, 0)], &rows_[place(m, i)], difference(m, i)});
    const std::vector<double> p_values =
        paired_randomization(pairs, {options_.trials, options_.seed, options_.threads});
    size_t next = 0;
    for (size_t m = 0; m < metrics_.size(); ++m)
      for (size_t i = 1; i < systems_; ++i) table_[i].p_values[m] = p_values[next++];
  }

  void resample() {
    const auto scores = bootstrap(rows_, {options_.resamples, options_.seed, options_.threads});
    for (size_t m = 0; m < metrics_.size(); ++m)
      for (size_t i = 0; i < systems_; ++i) judge(m, i, scores[place(m, 0)], scores[place(m, i)]);
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
  std::vector<SystemRows> rows_;  // grouped by metric
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

std::string signature(const Metric& metric, const std::string& run) {
  return run + "|" + metric.settings() + "|version:" + metric.version();
}

std::string score_text(const Score& score, int width) {
  std::string text = fixed(score.value, width);
  if (score.confidence) text += " (μ = " + interval(*score.confidence, width) + ")";
  return text;
}

std::string score_line(const Score& score, int width) {
  return score.name + "|" + score.signature + " = " + score_text(score, width) +
         (score.details.empty() ? "" : " " + score.details);
}

std::string score_lines(const std::vector<Score>& scores, int width) {
  size_t longest = 0;
  for (const Score& score : scores)
    longest = std::max(longest, score.name.size() + score.signature.size());
  std::string text;
  for (const Score& score : scores) {
    text += std::string(longest - score.name.size() - score.signature.size(), ' ');
    text += score_line(score, width) + "\n";
  }
  return text;
}

Json score_json(const Score& score, int width) {
  Json json;
  json["name"] = score.name;
  json["score"] = rounded(score.value, width);
  json["signature"] = score.signature;
  if (score.confidence) {
    json["confidence_mean"] = rounded(score.confidence->mean, width);
    json["confidence_var"] = rounded(score.confidence->half_width, width);
    json["confidence"] = "μ = " + interval(*score.confidence, width);
  }
  if (!score.details.empty()) json["verbose_score"] = score.details;
  std::string_view rest = score.signature;
  while (!rest.empty()) {
    const std::string_view setting = rest.substr(0, rest.find('|'));
    const size_t colon = setting.find(':');
    json[std::string(setting.substr(0, colon))] = setting.substr(colon + 1);
    rest.remove_prefix(std::min(rest.size(), setting.size() + 1));
  }
  json["statistics"] = score.statistics;
  return json;
}

std::string table_text(const std::vector<TableRow>& rows, int width) {
  std::vector<Line> lines(1, {"System"});
  std::string signatures;
  for (const Score& score : rows.front().scores) {
    lines[0].push_back(score.name + (score.confidence ? " (μ ± 95% CI)" : ""));
    signatures += score.name + "|" + score.signature + "\n";
  }
  for (const TableRow& row : rows) {
    lines.push_back({printable(row.system)});
    for (size_t m = 0; m < row.scores.size(); ++m)
      lines.back().push_back(cell(row.scores[m], row.p_values[m], width));
  }
  return aligned(lines) + "\n" + signatures;
}

Json table_json(const std::vector<TableRow>& rows, int width) {
  Json json = Json::array();
  for (const TableRow& row : rows) {
    Json system;
    system["system"] = row.system;
    for (size_t m = 0; m < row.scores.size(); ++m) {
      const Score& score = row.scores[m];
      Json& entry = system[score.name];
      entry["score"] = rounded(score.value, width);
      if (row.p_values[m]) entry["p_value"] = *row.p_values[m];
      if (score.confidence) {
        entry["mean"] = rounded(score.confidence->mean, width);
        entry["ci"] = rounded(score.confidence->half_width, width);
      }
      entry["signature"] = score.signature;
    }
    json.push_back(std::move(system));
  }
  return json;
}

Score signed_score(const Metric& metric, std::span<const double> sums, const std::string& run) {
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
    for (const Score& score : row.scores)
      line += (line.empty() ? "" : "\t") + score_text(score, options.width);
    text += line + "\n";
  }
  return text;
}

}  // namespace tx
