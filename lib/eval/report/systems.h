// The statistics of systems: their sums, and for resampling those of every segment.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/eval/metrics.h"
#include "lib/eval/resampling/resampling.h"

namespace tx {

// How many references the segments have.
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
  std::vector<SystemRows> rows;  // of each metric; without numbers where they are not kept
  ReferenceCount references;
  int64_t segments = 0;

  // The next segment: its references, then its row of each metric.
  void begin_segment(size_t reference_count);
  void add(size_t metric, std::span<const double> row, bool keep);
};

// They have no segments yet. Throws UsageError: a name is given twice.
std::vector<System> make_systems(const std::vector<std::string>& names, const Metrics& metrics);

// The systems of files of statistics, and the metrics that the files name. A part is the files of
// one system; its first file gives the name. Throws IoError, DataError: files that do not belong
// together, or without segments.
std::vector<System> read_systems(const std::vector<std::vector<std::string>>& parts, bool keep,
                                 Metrics& metrics);

}  // namespace tx
