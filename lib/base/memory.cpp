#include "lib/base/memory.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "lib/base/error.h"

namespace tx {

size_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, 8, "RssAnon:") == 0) return size_t(std::atoll(line.c_str() + 8)) << 10;
  return 0;
}

int64_t parse_size(const std::string& text, const std::string& option) {
  char unit = 0, rest = 0;
  double number = 0;
  const int read = std::sscanf(text.c_str(), "%lf%c%c", &number, &unit, &rest);
  const std::string units = "KMGT";
  const size_t power = unit ? units.find(char(toupper(unit))) : 0;
  if (read < 1 || read > 2 || power == std::string::npos || !(number > 0) || number > 1e15)
    throw UsageError(option + " " + text + ": give a size such as 800M or 2G");
  for (size_t i = 0; unit && i <= power; ++i) number *= 1024;
  if (number > 0x1p62)
    throw UsageError(option + " " + text +
                     ": more than a size can be; give one such as 800M or 2G");
  return int64_t(number);
}

std::string size_text(size_t bytes) {
  return std::to_string(((bytes + spare_bytes) >> 20) + 1) + "M";
}

}  // namespace tx
