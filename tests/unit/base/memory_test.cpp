#include "lib/base/memory.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <vector>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;

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
}

BOOST_AUTO_TEST_CASE(limit_of_control_groups) {
  const tx_test::TempFolder root;
  const auto put = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root / path).parent_path());
    root.file(path, text);
  };
  const auto limit = [&](const std::string& membership) {
    return memory_limit(root.path(), membership);
  };
  put("a/b/memory.max", "max\n");
  put("a/memory.max", "536870912\n");
  BOOST_TEST(limit("0::/a/b\n") == 536870912);  // of the group around it
  BOOST_TEST(limit("0::/\n") == 0);
  put("memory.max", "1073741824\n");
  BOOST_TEST(limit("0::/a/b\n") == 536870912);
  BOOST_TEST(limit("0::/not/here\n") == 1073741824);
  put("memory/g/memory.limit_in_bytes", "268435456\n");
  BOOST_TEST(limit("7:cpu:/x\n3:memory:/g\n") == 268435456);
  put("memory/g/memory.limit_in_bytes", "9223372036854771712\n");  // none
  BOOST_TEST(limit("3:memory:/g\n") == 0);
  BOOST_TEST(limit("") == 0);
  BOOST_TEST(available_memory() > 0);
}

BOOST_AUTO_TEST_CASE(room_that_is_not_there) {
  check_room(size_t(1) << 20);
  BOOST_CHECK_THROW(check_room(size_t(1) << 60), std::bad_alloc);
}

BOOST_AUTO_TEST_CASE(sizes_that_overflow_are_refused) {
  BOOST_TEST(parse_size("4194304T", "--memory") == int64_t(1) << 62);
  for (const char* large : {"4194305T", "99999999999G", "1e15M"})
    BOOST_TEST(message_of<UsageError>([&] {
                 parse_size(large, "--memory");
               }).starts_with(std::string("--memory ") + large + ": more than a size can be"),
               large);
}

BOOST_AUTO_TEST_CASE(sizes_as_text_are_enough) {
  for (const size_t bytes : {size_t(0), size_t(1) << 20, (size_t(1) << 20) + 1, size_t(5) << 31})
    BOOST_TEST(size_t(parse_size(size_text(bytes), "--memory")) >= bytes + spare_bytes);
  BOOST_TEST(size_text((size_t(7) << 20) - 1) == "8M");
}

BOOST_AUTO_TEST_CASE(memory_that_is_used_counts) {
  const size_t before = anonymous_bytes();
  const std::vector<char> block(size_t(64) << 20, 'x');
  BOOST_TEST(anonymous_bytes() > before + block.size() / 2);
}
