// Statistics of systems: their sums and, for resampling, those of every segment; files of them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/eval/metrics.h"
#include "lib/eval/resampling/resampling.h"

namespace tx {

// The number of references per segment.
class ReferenceCount {
 public:
  void note(size_t count) {
    if (count_ == 0) count_ = count;
    varies_ = varies_ || count != count_;
  }
  std::string text() const { return varies_ ? "var" : std::to_string(count_); }

 private:
  size_t count_ = 0;
  bool varies_ = false;
};

struct System {
  std::string name;
  std::vector<Statistics> sums;  // of each metric
  std::vector<SystemRows> rows;  // of each metric; empty unless kept
  ReferenceCount references;
  int64_t segments = 0;

  // Adds a segment: its number of references, then its row for each metric.
  void begin_segment(size_t reference_count);
  void add(size_t metric, std::span<const double> row, bool keep);
};

// Systems without segments. UsageError if a name is given twice.
std::vector<System> make_systems(const std::vector<std::string>& names, const Metrics& metrics);

// The systems in files of statistics, and their metrics. parts: the files of each system, named
// after the first. DataError: settings or segments differ, or there are none.
std::vector<System> read_systems(const std::vector<std::vector<std::string>>& parts, bool keep,
                                 Metrics& metrics);

// The lines of a file of statistics, tx-stats(5), without '\n': a header, then one line per
// segment. Files with the same settings can be concatenated.
std::string statistics_header(const Json& metrics);
// `row`: the statistics of all metrics, concatenated.
std::string statistics_line(size_t references, const Metrics& metrics, std::span<const double> row);

class StatisticsReader {
 public:
  // Throws IoError; DataError without a header.
  explicit StatisticsReader(const std::string& path);
  const Json& settings() const { return settings_; }
  // The next segment; false at the end. Skips repeated headers with the same settings. DataError
  // with the line for a wrong number of columns, or a number that is not a possible statistic.
  bool next(const std::vector<std::string>& columns, size_t& references, std::vector<double>& row);
  const std::string& name() const { return reader_.name(); }
  std::string place() const;  // "FILE line N" of the last line

 private:
  Json parse_header() const;
  void parse_row(std::vector<double>& row) const;
  LineReader reader_;
  Json settings_;
  std::string line_;
};

// Compares two headers; DataError that names the first setting that differs.
void check_same_settings(const Json& a, const std::string& name_a, const Json& b,
                         const std::string& name_b);

}  // namespace tx
