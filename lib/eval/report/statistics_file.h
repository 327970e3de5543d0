// Files of statistics, tx-stats(5): a header line, then one line per segment. Files of the same
// settings can be concatenated, and their sums are those of the concatenated texts.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/io.h"
#include "lib/eval/metrics.h"

namespace tx {

// The two lines' texts, without '\n'.
std::string statistics_header(const Json& metrics);
// `row` holds the statistics of every metric, one after another.
std::string statistics_line(size_t references, const Metrics& metrics, std::span<const double> row);

class StatisticsReader {
 public:
  explicit StatisticsReader(const std::string& path);  // throws IoError, DataError: no header
  const Json& settings() const { return settings_; }
  // The next segment; false at the end. A repeated header of the same settings is skipped.
  // Throws DataError that names the line: too many or too few numbers, or one that cannot come from
  // a text.
  bool next(const std::vector<std::string>& columns, size_t& references, std::vector<double>& row);
  const std::string& name() const { return reader_.name(); }
  std::string place() const;  // "FILE line N", of the line read last

 private:
  Json parse_header() const;
  void parse_row(std::vector<double>& row) const;
  LineReader reader_;
  Json settings_;
  std::string line_;
};

// Of two headers; throws DataError that names the first setting in which they differ.
void check_same_settings(const Json& a, const std::string& name_a, const Json& b,
                         const std::string& name_b);

}  // namespace tx
