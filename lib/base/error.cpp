#include "lib/base/error.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "lib/base/utf8.h"

namespace tx {

namespace {

// A dangling link looks like an existing file in a listing, so the message names the target.
std::string broken_link(const std::string& path, int number) {
  char target[PATH_MAX];
  const ssize_t length = number == ENOENT ? ::readlink(path.c_str(), target, sizeof target) : -1;
  if (length < 0) return "";
  return " (a link to " + std::string(target, size_t(length)) + ", which does not exist)";
}

}  // namespace

Error::Error(const std::string& message) : runtime_error(printable(message)) {}
Error::Error(const std::string& message, const std::string& more)
    : runtime_error(printable(message) + "\n" + more) {}

IoError::IoError(const std::string& verb, const std::string& path, int number,
                 const std::string& detail)
    : Error("cannot " + verb + " " + path + ": " + std::strerror(number) +
            (detail.empty() ? broken_link(path, number) : " (" + detail + ")")),
      error_number(number) {}

Bug::Bug(const char* condition, const char* file, int line)
    : Error(std::string("internal error: ") + condition + " failed (" + file + ":" +
            std::to_string(line) + "); please report it") {}

}  // namespace tx
