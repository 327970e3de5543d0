#include "lib/base/resources.h"

#include <sched.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <vector>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;

namespace {

// Files like those under /sys/fs/cgroup.
struct ControlGroups : tx_test::TempFolder {
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
    file(name, text);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(sizes) {
  BOOST_TEST(parse_size("12345", "--memory") == 12345);
  BOOST_TEST(parse_size("512K", "--memory") == 512 * 1024);
  BOOST_TEST(parse_size("800M", "--memory") == 800LL << 20);
  BOOST_TEST(parse_size("1.5g", "--memory") == 3LL << 29);
  BOOST_TEST(parse_size("2T", "--memory") == 2LL << 40);
  for (const char* bad : {"", "G", "2X", "2GB", "-1G", "0", "1e300", "nan", "inf"})
    BOOST_TEST(message_of<UsageError>([&] {
                 parse_size(bad, "--memory");
               }).starts_with(std::string("--memory ") + bad + ": give a size"),
               bad);
  BOOST_TEST(message_of<UsageError>([] { parse_size("0.5", "--memory"); }) ==
             "--memory 0.5: less than one byte");
  BOOST_TEST(parse_size("4194304T", "--memory") == int64_t(1) << 62);
  for (const char* large : {"4194305T", "99999999999G", "1e15M"})
    BOOST_TEST(message_of<UsageError>([&] {
                 parse_size(large, "--memory");
               }).starts_with(std::string("--memory ") + large + ": too large"),
               large);
}

BOOST_AUTO_TEST_CASE(limit_of_control_groups) {
  const ControlGroups groups;
  const auto limit = [&](const std::string& membership) {
    return memory_left(groups.path(), membership);
  };
  groups.put("a/b/memory.max", "max\n");
  groups.put("a/memory.max", "536870912\n");
  BOOST_TEST(limit("0::/a/b\n") == 536870912);  // of the parent group
  BOOST_TEST(limit("0::/\n") == 0);
  groups.put("memory.max", "1073741824\n");
  BOOST_TEST(limit("0::/a/b\n") == 536870912);
  BOOST_TEST(limit("0::/not/here\n") == 1073741824);
  groups.put("memory/g/memory.limit_in_bytes", "268435456\n");
  BOOST_TEST(limit("7:cpu:/x\n3:memory:/g\n") == 268435456);
  groups.put("memory/g/memory.limit_in_bytes", "9223372036854771712\n");  // no limit
  BOOST_TEST(limit("3:memory:/g\n") == 0);
  // What is in use is not left, except for cached files, which can be dropped.
  groups.put("a/memory.current", "500000000\n");
  groups.put("a/memory.stat", "anon 100\nfile 77\ninactive_file 90000000\nactive_file 10000000\n");
  BOOST_TEST(limit("0::/a/b\n") == 536870912 - 400000000);
  groups.put("a/memory.current", "900000000\n");
  BOOST_TEST(limit("0::/a\n") == 1);
  groups.put("memory/h/memory.limit_in_bytes", "1000000\n");
  groups.put("memory/h/memory.usage_in_bytes", "800000\n");
  groups.put("memory/h/memory.stat", "inactive_file 7\ntotal_inactive_file 100000\n");
  BOOST_TEST(limit("3:memory:/h\n") == 300000);
  BOOST_TEST(limit("") == 0);
  // The machine's memory that is not in use, and never more than what it has available now.
  std::ifstream meminfo("/proc/meminfo");
  int64_t available = 0;
  for (std::string word; meminfo >> word;)
    if (word == "MemAvailable:" && meminfo >> available) break;
  BOOST_TEST(available_memory() > 0);
  BOOST_TEST(available_memory() <= (available << 10) + (int64_t(256) << 20));
}

BOOST_AUTO_TEST_CASE(memory_that_is_refused) {
  require_memory(size_t(1) << 20);
  BOOST_CHECK_THROW(require_memory(size_t(1) << 60), std::bad_alloc);
}

BOOST_AUTO_TEST_CASE(sizes_as_text_are_enough) {
  for (const size_t bytes : {size_t(0), size_t(1) << 20, (size_t(1) << 20) + 1, size_t(5) << 31})
    BOOST_TEST(size_t(parse_size(size_text(bytes), "--memory")) >= bytes + reserve_bytes);
  BOOST_TEST(size_text((size_t(7) << 20) - 1) == "8M");
}

BOOST_AUTO_TEST_CASE(memory_that_is_used_counts) {
  const size_t before = anonymous_bytes();
  const std::vector<char> block(size_t(64) << 20, 'x');
  BOOST_TEST(anonymous_bytes() > before + block.size() / 2);
}

BOOST_AUTO_TEST_CASE(quota_of_control_groups) {
  const ControlGroups groups;
  groups.put("a/b/cpu.max", "max 100000\n");
  groups.put("a/cpu.max", "350000 100000\n");
  BOOST_TEST(quota_cpus(groups.path(), "0::/a/b\n") == 3);  // of the parent group, rounded down
  BOOST_TEST(quota_cpus(groups.path(), "0::/\n") == 0);
  groups.put("cpu.max", "50000 100000\n");
  BOOST_TEST(quota_cpus(groups.path(), "0::/\n") == 1);  // never less than one
  BOOST_TEST(quota_cpus(groups.path(), "0::/not/here\n") == 1);
  groups.put("cpu/g/cpu.cfs_quota_us", "200000\n");
  groups.put("cpu/g/cpu.cfs_period_us", "100000\n");
  BOOST_TEST(quota_cpus(groups.path(), "3:cpu,cpuacct:/g\n2:cpuset:/x\n") == 2);
  groups.put("cpu/g/cpu.cfs_quota_us", "-1\n");
  BOOST_TEST(quota_cpus(groups.path(), "3:cpu,cpuacct:/g\n") == 0);
  BOOST_TEST(quota_cpus(groups.path(), "") == 0);
}

BOOST_AUTO_TEST_CASE(available_cpus_follows_affinity) {
  const auto child = tx_test::run_in_child([] {
    cpu_set_t one;
    sched_getaffinity(0, sizeof one, &one);
    for (int i = 0, kept = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &one) && kept++ > 0) CPU_CLR(i, &one);
    }
    sched_setaffinity(0, sizeof one, &one);
    return available_cpus() == 1 ? 0 : 1;
  });
  BOOST_TEST(child.status == 0);
  BOOST_TEST(available_cpus() >= 1);
}
