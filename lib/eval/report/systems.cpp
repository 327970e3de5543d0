#include "lib/eval/report/systems.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/eval/report/statistics_file.h"

namespace tx {
namespace {

void read_part(StatisticsReader& reader, const Metrics& metrics, bool keep, System& system) {
  std::vector<std::string> columns;
  for (const auto& metric : metrics) {
    for (std::string& name : metric->columns()) columns.push_back(std::move(name));
  }
  size_t references = 0;
  for (std::vector<double> row; reader.next(columns, references, row);) {
    system.begin_segment(references);
    std::span<const double> rest = row;
    for (size_t m = 0; m < metrics.size(); ++m) {
      const size_t size = system.sums[m].size();
      system.add(m, rest.first(size), keep);
      const Statistics& sums = system.sums[m];
      if (std::any_of(sums.begin(), sums.end(), [](double sum) { return sum >= 0x1p53; })) {
        throw DataError(reader.place() + ": the sums are too large to be exact counts (2^53)");
      }
      rest = rest.subspan(size);
    }
  }
}

void check_segments(const std::vector<System>& systems) {
  for (const System& system : systems) {
    if (system.segments == 0) throw DataError("nothing to score: " + system.name + " is empty");
    if (system.segments != systems.front().segments) {
      throw DataError(systems.front().name + " has " + std::to_string(systems.front().segments) +
                      " segments, " + system.name + " has " + std::to_string(system.segments) +
                      "; give statistics of the same segments");
    }
  }
}

}  // namespace

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
    if (std::count(names.begin(), names.end(), name) > 1) {
      throw UsageError("the system " + name + " is given twice");
    }
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
