#include "lib/text/read_progress.h"

#include <cstdio>

namespace tx {

void ReadProgress::add(const std::string& line) {
  ++lines_;
  bytes_ += int64_t(line.size()) + 1;
  if (lines_ % 1024 == 0 && log_.terminal()) show();
}

void ReadProgress::show() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  char text[96];
  std::snprintf(text, sizeof text, "read %lld lines, %.1f MB", static_cast<long long>(lines_),
                double(bytes_) / 1e6);
  log_.live(text);
}

}  // namespace tx
