// Progress on the terminal: "1200 of 10000 lines (12.0 %), 40 lines/s, 0:03:40 left".
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/log.h"

namespace tx {

// The lines of the files, or of the rest of standard input, which is not consumed. Empty for
// anything but regular files, for compressed files, and for more than 1 GiB.
std::optional<int64_t> count_lines(const std::vector<std::string>& files);

class LineProgress {
 public:
  using Clock = std::function<double()>;  // seconds since an arbitrary time

  // Silent unless standard error alone is a terminal and the files are regular. `log` outlives it.
  LineProgress(const std::vector<std::string>& files, const Log& log);
  LineProgress(std::optional<int64_t> total, bool shown, const Log& log, Clock clock);
  ~LineProgress() {  // removes the line
    if (shown_) log_.clear_live();
  }

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
