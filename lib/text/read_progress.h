// Shows on a terminal how much of a text has been read and what is done next; wiped at the end.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "lib/base/log.h"

namespace tx {

class ReadProgress {
 public:
  explicit ReadProgress(const Log& log) : log_(log) {}
  ~ReadProgress() { log_.clear_live(); }
  ReadProgress(const ReadProgress&) = delete;
  ReadProgress& operator=(const ReadProgress&) = delete;
  void add(const std::string& line);
  void say(const std::string& text) { log_.live(text); }

 private:
  void show();

  const Log& log_;
  int64_t lines_ = 0, bytes_ = 0;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace tx
