// Limits of the control groups that this process is in.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace tx {

// Where the system mounts the groups, and the text that says which of them this process is in.
constexpr const char* control_groups_root = "/sys/fs/cgroup";
std::string control_groups_membership();

// The text of a file of a group, "" where there is none.
std::string control_group_text(const std::string& path);

// The least limit of the process's groups and of the groups around them, 0 where there is none.
// `controller`: "cpu" or "memory"; limit_of: of one folder, 0 where it has none; `root` is where
// the groups are mounted, `membership` the text of /proc/self/cgroup; versions 1 and 2.
int64_t min_limit(const std::string& root, const std::string& membership,
                  const std::string& controller,
                  const std::function<int64_t(const std::string& folder, bool version2)>& limit_of);

}  // namespace tx
