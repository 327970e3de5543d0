// Progress of the translation of a file, on one line of the terminal:
// "1200 of 10000 lines (12.0 %), 40 lines/s, 0:03:40 left".
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/log.h"

namespace tx {

// The number of lines in the files, or in the rest of standard input if there are none, which is
// not consumed. Empty if unknown: for anything but regular files, for compressed files, and for
// more than 1 GiB.
std::optional<int64_t> count_lines(const std::vector<std::string>& files);

class LineProgress {
 public:
  using Clock = std::function<double()>;  // seconds since an arbitrary time

  // Shows nothing unless standard error is a terminal that is not standard output, and the input is
  // regular files. `log` must outlive this.
  LineProgress(const std::vector<std::string>& files, const Log& log);
  LineProgress(std::optional<int64_t> total, bool shown, const Log& log, Clock clock);
  ~LineProgress();  // removes the line

  void add();  // counts a translated line; updates the display at most a few times a second
  std::string text() const;

 private:
  std::optional<int64_t> total_;
  bool shown_;
  const Log& log_;
  Clock clock_;
  double start_, shown_at_ = -1;
  int64_t done_ = 0;
};

}  // namespace tx
