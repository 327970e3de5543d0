#include "lib/eval/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "lib/base/error.h"
#include "lib/eval/tokenizers/unicode.h"

namespace tx {
namespace {

// For JSON, which has no infinity. No text gives one, but made-up statistics may.
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
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], count_characters(line[i]));
    }
  }
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

}  // namespace

std::string fixed(double value, int digits) {
  const int size = std::snprintf(nullptr, 0, "%.*f", digits, value);
  std::string text(size_t(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  text.pop_back();
  return text;
}

std::string signature(const Metric& metric, const RunSettings& run) {
  std::string text = "nrefs:" + run.references;
  if (run.resamples) text += "|bs:" + std::to_string(*run.resamples);
  if (run.trials) text += "|ar:" + std::to_string(*run.trials);
  if (run.seed) text += "|seed:" + std::to_string(*run.seed);
  return text + "|" + metric.settings() + "|version:" + metric.version();
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
  for (const Score& score : scores) {
    longest = std::max(longest, score.name.size() + score.signature.size());
  }
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
    lines.push_back({row.system});
    for (size_t m = 0; m < row.scores.size(); ++m) {
      lines.back().push_back(cell(row.scores[m], row.p_values[m], width));
    }
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

}  // namespace tx
