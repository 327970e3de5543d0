#include "lib/eval/report/systems.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/split.h"

namespace tx {

namespace {

constexpr std::string_view magic = "#tx-stats 1 ";

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : to_text(value);
}

void read_part(StatisticsReader& reader, const Metrics& metrics, bool keep, System& system) {
  std::vector<std::string> columns;
  for (const auto& metric : metrics)
    for (std::string& name : metric->columns()) columns.push_back(std::move(name));
  size_t references = 0;
  for (std::vector<double> row; reader.next(columns, references, row);) {
    system.begin_segment(references);
    std::span<const double> rest = row;
    for (size_t m = 0; m < metrics.size(); ++m) {
      const size_t size = system.sums[m].size();
      system.add(m, rest.first(size), keep);
      const Statistics& sums = system.sums[m];
      if (std::any_of(sums.begin(), sums.end(), [](double sum) { return sum >= 0x1p53; }))
        throw DataError(reader.place() + ": the sums are too large to be exact counts (2^53)");
      rest = rest.subspan(size);
    }
  }
}

void check_segments(const std::vector<System>& systems) {
  for (const System& system : systems) {
    if (system.segments == 0) throw DataError("nothing to score: " + system.name + " is empty");
    if (system.segments != systems.front().segments)
      throw DataError(systems.front().name + " has " + std::to_string(systems.front().segments) +
                      " segments, " + system.name + " has " + std::to_string(system.segments) +
                      "; give statistics of the same segments");
  }
}

}  // namespace

std::string statistics_header(const Json& metrics) { return std::string(magic) + to_text(metrics); }

std::string statistics_line(size_t references, const Metrics& metrics,
                            std::span<const double> row) {
  std::string text = std::to_string(references);
  size_t k = 0;
  for (const auto& metric : metrics) {
    const size_t end = k + metric->size();
    text.push_back('\t');
    for (bool first = true; k < end; ++k, first = false) {
      if (!first) text.push_back(' ');
      text += shortest(row[k]);
    }
  }
  return text;
}

StatisticsReader::StatisticsReader(const std::string& path) : reader_(path) {
  if (!reader_.next(line_)) throw DataError(name() + ": no statistics: the file is empty");
  settings_ = parse_header();
}

std::string StatisticsReader::place() const {
  return name() + " line " + std::to_string(reader_.line_number());
}

Json StatisticsReader::parse_header() const {
  if (!line_.starts_with(magic))
    throw DataError(place() +
                    ": expected the first line of tx-bleu --stats, which begins with #tx-stats 1");
  const Json json = parse_json(std::string_view(line_).substr(magic.size()), place());
  if (!json.is_array() || !std::all_of(json.begin(), json.end(), std::mem_fn(&Json::is_object)))
    throw DataError(place() + ": the header of the statistics is not a list of metrics");
  return json;
}

void StatisticsReader::parse_row(std::vector<double>& row) const {
  const auto damaged = [&](const char* what, const char* at) {
    throw DataError(place() + ": " + what + " at byte " + std::to_string(at - line_.data() + 1));
  };
  row.clear();
  for (const char *at = line_.data(), *end = at + line_.size(); at < end;) {
    double value = 0;
    const auto result = std::from_chars(at, end, value);
    if (result.ec != std::errc() || !(value >= 0 && value < 0x1p53)) damaged("not a number", at);
    row.push_back(value);
    at = result.ptr;
    if (at < end && *at != ' ' && *at != '\t') damaged("no space after the number", at);
    if (at < end) ++at;
  }
}

bool StatisticsReader::next(const std::vector<std::string>& columns, size_t& references,
                            std::vector<double>& row) {
  for (;;) {
    if (!reader_.next(line_)) return false;
    if (!line_.starts_with('#')) break;
    check_same_settings(settings_, name() + " line 1", parse_header(), place());
  }
  parse_row(row);
  if (row.size() != columns.size() + 1)
    throw DataError(place() + ": " + std::to_string(row.size()) + " numbers instead of " +
                    std::to_string(columns.size() + 1));
  if (row.front() < 1 || row.front() > 1e6 || row.front() != std::floor(row.front()))
    throw DataError(place() + ": the first number is not a number of references");
  references = size_t(row.front());
  row.erase(row.begin());
  for (size_t k = 0; k < row.size(); ++k) {
    if (row[k] == std::floor(row[k])) continue;
    const bool mean = columns[k] == "reference_length" && row[k] > 1e-6;  // of several references
    if (!mean) throw DataError(place() + ": " + columns[k] + " is not a count");
  }
  return true;
}

void check_same_settings(const Json& a, const std::string& name_a, const Json& b,
                         const std::string& name_b) {
  if (a == b) return;
  const auto refuse = [&](const std::string& of_a, const std::string& of_b) {
    throw DataError("the statistics cannot be combined: " + name_a + " has " + of_a + ", " +
                    name_b + " has " + of_b + "; make both with the same options");
  };
  const auto count = [](const Json& json) { return counted(int64_t(json.size()), "metric"); };
  if (a.size() != b.size()) refuse(count(a), count(b));
  for (size_t m = 0; m < a.size(); ++m) {
    for (const auto& [key, value] : a[m].items()) {
      if (key == "columns") continue;  // they follow from the rest
      const Json other = b[m].contains(key) ? b[m][key] : Json();
      if (value == other) continue;
      const bool says_itself = key == "metric" || key == "settings";
      const std::string name = says_itself ? "" : key + " ";
      refuse(name + plain_text(value), name + plain_text(other));
    }
  }
  refuse("one set of options", "another");
}

void System::begin_segment(size_t reference_count) {
  references.note(reference_count);
  ++segments;
}

void System::add(size_t metric, std::span<const double> row, bool keep) {
  for (size_t k = 0; k < row.size(); ++k) sums[metric][k] += row[k];
  if (keep) rows[metric].rows.insert(rows[metric].rows.end(), row.begin(), row.end());
}

std::vector<System> make_systems(const std::vector<std::string>& names, const Metrics& metrics) {
  std::vector<System> systems;
  for (const std::string& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1)
      throw UsageError("the system " + name + " is given twice");
    System& system = systems.emplace_back();
    system.name = name;
    for (const auto& metric : metrics) {
      system.sums.emplace_back(metric->size(), 0.0);
      system.rows.push_back({metric.get(), {}});
    }
  }
  return systems;
}

std::vector<System> read_systems(const std::vector<std::vector<std::string>>& parts, bool keep,
                                 Metrics& metrics) {
  std::vector<System> systems;
  Json settings;
  std::string first;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const std::string& path : parts[i]) {
      StatisticsReader reader(path);
      if (first.empty()) {
        first = reader.name();
        settings = reader.settings();
        metrics = metrics_from_json(settings, first);
        std::vector<std::string> names;
        for (const auto& files : parts) names.push_back(files.front());
        systems = make_systems(names, metrics);
      }
      check_same_settings(settings, first, reader.settings(), reader.name());
      read_part(reader, metrics, keep, systems[i]);
    }
  }
  check_segments(systems);
  return systems;
}

}  // namespace tx
