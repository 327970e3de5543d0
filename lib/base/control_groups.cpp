#include "lib/base/control_groups.h"

#include <sstream>

#include "lib/base/error.h"
#include "lib/base/io.h"

namespace tx {

std::string control_group_text(const std::string& path) {
  try {
    return read_file(path, 1 << 20);
  } catch (const Error&) {
    return "";  // no such controller here
  }
}

std::string control_groups_membership() { return control_group_text("/proc/self/cgroup"); }

int64_t min_limit(
    const std::string& root, const std::string& membership, const std::string& controller,
    const std::function<int64_t(const std::string& folder, bool version2)>& limit_of) {
  std::istringstream lines(membership);
  int64_t min = 0;
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/path" or "0::/path"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool version2 = controllers == ",,";
    if (!version2 && controllers.find("," + controller + ",") == std::string::npos) continue;
    const std::string mount = version2 ? root : root + "/" + controller;
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    // In a container the group's path may be the host's and not exist here; the walk then ends at
    // the mount, which is the container's own.
    for (;;) {
      const int64_t limit = limit_of(mount + group, version2);
      if (limit > 0 && (min == 0 || limit < min)) min = limit;
      const size_t slash = group.rfind('/');
      if (group.empty() || slash == std::string::npos) break;
      group.erase(slash);
    }
  }
  return min;
}

}  // namespace tx
