#include "lib/base/error.h"

#include <cstring>

namespace tx {

IoError::IoError(const std::string& verb, const std::string& path, int number,
                 const std::string& detail)
    : Error("cannot " + verb + " " + path + ": " + std::strerror(number) +
            (detail.empty() ? "" : " (" + detail + ")")),
      error_number(number) {}

Bug::Bug(const char* condition, const char* file, int line)
    : Error(std::string("internal error: ") + condition + " does not hold (" + file + ":" +
            std::to_string(line) + "); please report it") {}

}  // namespace tx
