// How many processors this process may use.
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/workers.h"

namespace tx {

namespace {

int affinity_cpus() {
  // The kernel refuses a mask smaller than its own: machines above 1024 processors exist.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(size_t(cpus));
    const size_t bytes = CPU_ALLOC_SIZE(size_t(cpus));
    const bool ok = sched_getaffinity(0, bytes, set) == 0;
    const int count = ok ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (ok) return std::max(1, count);
    if (errno != EINVAL) break;
  }
  return std::max(1, int(std::thread::hardware_concurrency()));
}

std::string text_of(const std::string& path) {
  try {
    return read_file(path, 1 << 20);
  } catch (const Error&) {
    return "";  // no such controller here
  }
}

// Whole processors of a quota, 0 for none. Rounded down: threads that wait for one another
// at barriers are as slow as the one that the quota stops.
int whole(double quota, double period) {
  return quota > 0 && period > 0 ? std::max(1, int(quota / period)) : 0;
}

int quota_of_folder(const std::string& folder, bool version2) {
  double quota = 0, period = 0;
  if (version2) {
    std::istringstream(text_of(folder + "/cpu.max")) >> quota >> period;  // "max 100000": quota 0
  } else {
    std::istringstream(text_of(folder + "/cpu.cfs_quota_us")) >> quota;  // -1: none
    std::istringstream(text_of(folder + "/cpu.cfs_period_us")) >> period;
  }
  return whole(quota, period);
}

// The least quota of a group and of the groups around it. In a container the group's path may be
// the host's and not exist here; the walk then ends at the mount, which is the container's own.
int least_quota(const std::string& mount, std::string group, bool version2) {
  int least = 0;
  for (;;) {
    const int quota = quota_of_folder(mount + group, version2);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    const size_t slash = group.rfind('/');
    if (group.empty() || slash == std::string::npos) return least;
    group.erase(slash);
  }
}

}  // namespace

int quota_cpus(const std::string& root, const std::string& membership) {
  std::istringstream lines(membership);
  int least = 0;
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/path" or "0::/path"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool version2 = controllers == ",,";
    if (!version2 && controllers.find(",cpu,") == std::string::npos) continue;
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    const int quota = least_quota(version2 ? root : root + "/cpu", group, version2);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  return least;
}

int available_cpus() {
  const int quota = quota_cpus("/sys/fs/cgroup", text_of("/proc/self/cgroup"));
  const int cpus = affinity_cpus();
  return quota > 0 ? std::min(cpus, quota) : cpus;
}

}  // namespace tx
