#include "lib/search/lines/line_progress.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "lib/base/clock.h"
#include "lib/base/figure.h"

namespace tx {
namespace {

bool is_regular(int fd) {
  struct stat info;
  return ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

// Calls f with each file's descriptor as long as it returns true; returns whether it always did.
template <class F>
bool each_file(const std::vector<std::string>& files, F&& f) {
  if (files.empty()) return f(0);
  return std::all_of(files.begin(), files.end(), [&](const std::string& file) {
    if (file == "-") return f(0);
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool good = fd >= 0 && f(fd);
    if (fd >= 0) ::close(fd);
    return good;
  });
}

// Adds the lines after the current offset; false if they cannot be counted.
bool add_lines(int fd, int64_t& lines) {
  constexpr off_t max = off_t(1) << 30;  // takes a few tenths of a second
  struct stat info;
  off_t at = ::lseek(fd, 0, SEEK_CUR);
  if (!is_regular(fd) || at < 0 || ::fstat(fd, &info) != 0 || info.st_size - at > max) return false;
  std::vector<char> bytes(size_t(1) << 16);
  char last = '\n';
  for (bool first = true;; first = false) {
    const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), at);
    if (got < 0) return false;
    if (got == 0) break;
    if (first && got >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b') return false;  // gzip
    lines += std::count(bytes.begin(), bytes.begin() + got, '\n');
    last = bytes[size_t(got) - 1];
    at += got;
  }
  lines += last != '\n';
  return true;
}

}  // namespace

std::optional<int64_t> count_lines(const std::vector<std::string>& files) {
  int64_t lines = 0;
  if (!each_file(files, [&](int fd) { return add_lines(fd, lines); })) return {};
  return lines;
}

LineProgress::LineProgress(const std::vector<std::string>& files, const Log& log)
    : shown_(log.terminal() && ::isatty(1) == 0 && each_file(files, is_regular)),
      log_(log),
      clock_(steady_seconds),
      start_(clock_()) {
  if (shown_) total_ = count_lines(files);
}

LineProgress::LineProgress(std::optional<int64_t> total, bool shown, const Log& log, Clock clock)
    : total_(total), shown_(shown), log_(log), clock_(std::move(clock)), start_(clock_()) {}

void LineProgress::add() {
  constexpr double pause = 0.2;
  ++done_;
  if (!shown_) return;
  const double now = clock_();
  if (shown_at_ >= 0 && now - shown_at_ < pause) return;
  shown_at_ = now;
  log_.live(text());
}

std::string LineProgress::text() const {
  std::string text = std::to_string(done_);
  if (total_) text += " of " + std::to_string(*total_);
  text += total_ || done_ != 1 ? " lines" : " line";
  if (total_ && *total_ > 0) text += formatted(" (%.1f %%)", 100 * double(done_) / double(*total_));
  const double spent = clock_() - start_, rate = double(done_) / spent;
  if (spent <= 0 || done_ == 0) return text;
  text += formatted(rate < 10 ? ", %.1f lines/s" : ", %.0f lines/s", rate);
  if (total_)
    text += ", " + duration(double(std::max<int64_t>(0, *total_ - done_)) / rate) + " left";
  return text;
}

}  // namespace tx
