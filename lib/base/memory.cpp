#include "lib/base/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <sstream>

#include "lib/base/control_groups.h"
#include "lib/base/error.h"

namespace tx {

size_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, 8, "RssAnon:") == 0) return size_t(std::atoll(line.c_str() + 8)) << 10;
  return 0;
}

int64_t memory_limit(const std::string& root, const std::string& membership) {
  return min_limit(root, membership, "memory", [](const std::string& folder, bool version2) {
    int64_t limit = 0;  // "max", of version 1 a number near 2^63: none
    std::istringstream(
        control_group_text(folder + (version2 ? "/memory.max" : "/memory.limit_in_bytes"))) >>
        limit;
    return limit < int64_t(1) << 62 ? limit : 0;
  });
}

int64_t available_memory() {
  const int64_t all = int64_t(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  const int64_t limit = memory_limit(control_groups_root, control_groups_membership());
  return limit > 0 ? std::min(all, limit) : all;
}

void check_room(size_t bytes) {
  void* const room =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  ::munmap(room, bytes);
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
