#include "lib/base/resources.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>
#include <new>
#include <sstream>
#include <thread>

#include "lib/base/error.h"
#include "lib/base/io.h"

namespace tx {

namespace {

constexpr const char* control_groups_root = "/sys/fs/cgroup";

std::string control_group_text(const std::string& path) {
  try {
    return read_file(path, 1 << 20);
  } catch (const Error&) {
    return "";  // no such controller here
  }
}

std::string control_groups_membership() { return control_group_text("/proc/self/cgroup"); }

// The smallest limit of the process's groups and their parents, 0 without. limit_of(): of one.
int64_t min_limit(
    const std::string& root, const std::string& membership, const std::string& controller,
    const std::function<int64_t(const std::string& directory, bool version2)>& limit_of) {
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
    // In a container the group's path may not exist here; the walk then ends at the mount.
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

int affinity_cpus() {
  // The kernel refuses a mask that is smaller than its own, which exceeds 1024 on large machines.
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

// Whole processors, rounded down: at a barrier all wait for the one that the quota stops. 0: none.
int64_t quota_of_group(const std::string& directory, bool version2) {
  double quota = 0, period = 0;
  if (version2) {
    // "max 100000", no quota, leaves quota 0.
    std::istringstream(control_group_text(directory + "/cpu.max")) >> quota >> period;
  } else {
    std::istringstream(control_group_text(directory + "/cpu.cfs_quota_us")) >> quota;  // -1: none
    std::istringstream(control_group_text(directory + "/cpu.cfs_period_us")) >> period;
  }
  return quota > 0 && period > 0 ? std::max(1, int(quota / period)) : 0;
}

}  // namespace

int quota_cpus(const std::string& root, const std::string& membership) {
  return int(min_limit(root, membership, "cpu", quota_of_group));
}

int available_cpus() {
  const int quota = quota_cpus(control_groups_root, control_groups_membership());
  const int cpus = affinity_cpus();
  return quota > 0 ? std::min(cpus, quota) : cpus;
}

size_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, 8, "RssAnon:") == 0) return size_t(std::atoll(line.c_str() + 8)) << 10;
  return 0;
}

namespace {

// The number after `key` and white space, or at the beginning without a key; 0 if there is none.
int64_t number_after(const std::string& text, const std::string& key = "") {
  std::istringstream words(text);
  int64_t number = 0;
  for (std::string word; !key.empty() && word != key;)
    if (!(words >> word)) return 0;
  words >> number;
  return number;
}

// Cached files count as used, but the system drops them when memory is needed.
int64_t left_of_group(const std::string& directory, bool version2) {
  const auto read = [&](const char* name) {
    return control_group_text(directory + "/memory." + name);
  };
  const int64_t limit = number_after(read(version2 ? "max" : "limit_in_bytes"));
  if (limit <= 0 || limit >= int64_t(1) << 62) return 0;  // "max", or near 2^63 (version 1)
  const std::string total = version2 ? "" : "total_",
                    usage = read(version2 ? "current" : "usage_in_bytes");
  const std::string parts = read("stat");
  const int64_t cached =
      number_after(parts, total + "inactive_file") + number_after(parts, total + "active_file");
  return std::max<int64_t>(1, limit - std::max<int64_t>(0, number_after(usage) - cached));
}

}  // namespace

int64_t memory_left(const std::string& root, const std::string& membership) {
  return min_limit(root, membership, "memory", left_of_group);
}

int64_t available_memory() {
  int64_t all = number_after(control_group_text("/proc/meminfo"), "MemAvailable:") << 10;
  if (all == 0) all = int64_t(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  const int64_t left = memory_left(control_groups_root, control_groups_membership());
  return left > 0 ? std::min(all, left) : all;
}

void require_memory(size_t bytes) {
  void* const block =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  ::munmap(block, bytes);
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
  if (number < 1) throw UsageError(option + " " + text + ": less than one byte");
  if (number > 0x1p62)
    throw UsageError(option + " " + text + ": too large; give a size such as 800M or 2G");
  return int64_t(number);
}

std::string size_text(size_t bytes) {
  return std::to_string(((bytes + reserve_bytes) >> 20) + 1) + "M";
}

}  // namespace tx
