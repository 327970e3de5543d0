#include "lib/base/log.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "lib/base/utf8.h"

namespace tx {

namespace {

std::mutex& stderr_lock() {
  static std::mutex lock;
  return lock;
}

void write_stderr(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(2, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    bytes.remove_prefix(size_t(done));
  }
}

// The first `columns` code points of text.
std::string cut(const std::string& text, int columns) {
  size_t i = 0;
  for (int count = 0; i < text.size(); ++i)
    if (!is_continuation(text[i]) && count++ == columns) break;
  return text.substr(0, i);
}

int terminal_columns() {
  winsize size{};
  return ::ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

}  // namespace

Log::Log(std::string tool, bool quiet, bool silent)
    : tool_(std::move(tool)), quiet_(quiet || silent), silent_(silent) {
  const char* term = std::getenv("TERM");
  terminal_ = ::isatty(2) == 1 && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

void Log::info(const std::string& text) const {
  if (!quiet_) line(text);
}

void Log::warn(const std::string& text) const { line(printable("warning: " + text)); }
void Log::error(const std::string& text) const { line(text); }

void Log::live(const std::string& text) const {
  if (!terminal_ || quiet_) return;
  const std::lock_guard guard(stderr_lock());
  write_stderr("\r" + cut(tool_ + ": " + printable(text), terminal_columns() - 1) + "\x1b[K");
  live_shown_ = true;
}

void Log::clear_live() const {
  const std::lock_guard guard(stderr_lock());
  if (live_shown_) write_stderr("\r\x1b[K");
  live_shown_ = false;
}

void Log::line(const std::string& text) const {
  if (silent_) return;
  const std::lock_guard guard(stderr_lock());
  std::string out = live_shown_ ? "\r\x1b[K" : "";
  live_shown_ = false;
  size_t begin = 0;
  do {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out += tool_ + ": " + printable(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  } while (begin < text.size());
  write_stderr(out);
}

}  // namespace tx
