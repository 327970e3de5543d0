// How many processors this process may use.
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "lib/base/control_groups.h"
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

// Whole processors of a quota, 0 for none. Rounded down: threads that wait for one another
// at barriers are as slow as the one that the quota stops.
int whole(double quota, double period) {
  return quota > 0 && period > 0 ? std::max(1, int(quota / period)) : 0;
}

int64_t quota_of_folder(const std::string& folder, bool version2) {
  double quota = 0, period = 0;
  if (version2) {
    std::istringstream(control_group_text(folder + "/cpu.max")) >> quota >>
        period;  // "max 100000": quota 0
  } else {
    std::istringstream(control_group_text(folder + "/cpu.cfs_quota_us")) >> quota;  // -1: none
    std::istringstream(control_group_text(folder + "/cpu.cfs_period_us")) >> period;
  }
  return whole(quota, period);
}

}  // namespace

int quota_cpus(const std::string& root, const std::string& membership) {
  return int(min_limit(root, membership, "cpu", quota_of_folder));
}

int available_cpus() {
  const int quota = quota_cpus(control_groups_root, control_groups_membership());
  const int cpus = affinity_cpus();
  return quota > 0 ? std::min(cpus, quota) : cpus;
}

}  // namespace tx
