#include "lib/base/error.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

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

IoError::IoError(const std::string& verb, const std::string& path, int number,
                 const std::string& detail)
    : Error("cannot " + verb + " " + path + ": " + std::strerror(number) +
            (detail.empty() ? broken_link(path, number) : " (" + detail + ")")),
      error_number(number) {}

Bug::Bug(const char* condition, const char* file, int line)
    : Error(std::string("internal error: ") + condition + " failed (" + file + ":" +
            std::to_string(line) + "); please report it") {}

}  // namespace tx
