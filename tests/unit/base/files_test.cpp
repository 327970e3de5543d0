#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>

#include "lib/base/bytes.h"
#include "lib/base/error.h"
#include "lib/base/io.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;
using tx_test::TempFolder;

BOOST_AUTO_TEST_CASE(read_file_reads_all) {
  const TempFolder folder;
  const std::string large(300000, 'z');
  BOOST_TEST((read_file(folder.file("large", large)) == large));
  BOOST_TEST(read_file(folder.file("empty", "")) == "");
  BOOST_TEST(read_file("/proc/self/cgroup").size() > 0u);  // its size is reported as 0
}

BOOST_AUTO_TEST_CASE(read_file_refuses) {
  const TempFolder folder;
  BOOST_TEST(read_file(folder.file("ten", "0123456789"), 10).size() == 10u);
  BOOST_CHECK_THROW(read_file(folder / "ten", 9), DataError);
  BOOST_CHECK_THROW(read_file("/dev/zero", 1000), DataError);  // its size is reported as 0
  BOOST_CHECK_THROW(read_file(folder.path()), IoError);
  BOOST_CHECK_THROW(read_file(folder / "none"), IoError);
}

BOOST_AUTO_TEST_CASE(mapped_file_shows_the_bytes) {
  const TempFolder folder;
  const MappedFile map(folder.file("f", "abc"));
  BOOST_TEST(std::string(map.data(), size_t(map.size())) == "abc");
  const MappedFile empty(folder.file("empty", ""));
  BOOST_TEST(empty.size() == 0);
  BOOST_CHECK_THROW(MappedFile{folder.path()}, IoError);
  BOOST_CHECK_THROW(MappedFile{folder / "none"}, IoError);
  BOOST_CHECK_THROW(MappedFile{"/dev/null"}, DataError);
}

// Overwritten in place, the file is refused; renamed, touched or deleted, it is the same.
BOOST_AUTO_TEST_CASE(a_mapped_file_that_is_overwritten_is_noticed) {
  const TempFolder folder;
  const std::string path = folder.file("f", "abc");
  const MappedFile map(path);
  int compared = 0;
  const auto same = [&] { return ++compared, std::string(map.data(), 3) == "abc"; };
  const auto moment = [] { ::usleep(20'000); };  // longer than the clock of file times ticks
  map.check_unchanged(same);
  BOOST_TEST(compared == 0);
  moment();
  folder.file("f", "abc");
  map.check_unchanged(same);
  BOOST_TEST(compared == 1);
  std::filesystem::rename(path, folder / "g");
  folder.file("f", "new");
  map.check_unchanged(same);
  moment();
  folder.file("g", "abd");
  for (int i = 0; i < 2; ++i)
    BOOST_TEST(message_of<DataError>([&] {
                 map.check_unchanged(same);
               }).starts_with(path + " was overwritten while in use; to replace a file,"));
}

// Reading a mapped file beyond its new end raises SIGBUS.
BOOST_AUTO_TEST_CASE(a_mapped_file_that_shrinks_is_named) {
  const TempFolder folder;
  const std::string path = folder.file("f", std::string(100'000, 'a'));
  const auto after = [&](const std::function<int()>& shrink) {
    return tx_test::run_in_child([&] {
      ::signal(SIGBUS, SIG_DFL);  // replaces the handler of Boost.Test
      const MappedFile other(folder.file("other", "b"));
      auto closed = std::make_unique<MappedFile>(path);
      const MappedFile map(path);
      closed.reset();
      if (shrink()) return 2;
      const volatile char* const data = map.data();
      return data[50'000] == 'a' ? 0 : 2;
    });
  };
  BOOST_TEST(after([] { return 0; }).status == 0);
  const auto child = after([&] { return ::truncate(path.c_str(), 10); });
  BOOST_TEST(child.status == 1);
  BOOST_TEST(child.err.ends_with(": cannot read " + path +
                                 ": it was truncated while in use, or its disk failed\n"));
  BOOST_TEST(std::count(child.err.begin(), child.err.end(), '\n') == 1);
#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer reports the signal itself
  BOOST_TEST(after([] { return ::raise(SIGBUS); }).status == 128 + SIGBUS);  // not by a mapped file
#endif
}

BOOST_AUTO_TEST_CASE(looking_at_paths) {
  const TempFolder folder;
  const std::string file = folder.file("f", "");
  BOOST_TEST(file_exists(file));
  BOOST_TEST(!file_exists(folder / "none"));
  BOOST_TEST(is_directory(folder.path()));
  BOOST_TEST(!is_directory(file));
  BOOST_TEST(free_bytes(folder / "not-there-yet") > 0);
  BOOST_TEST(free_bytes("relative-not-there") > 0);
  BOOST_CHECK_THROW(free_bytes(folder / "no/such/folder"), IoError);
}

// XXH3_64bits with seed 0, as xxhsum -H3 prints it.
BOOST_AUTO_TEST_CASE(xxh3_known_answers) {
  BOOST_TEST(xxh3_hex("", 0) == "2d06800538d394c2");
  BOOST_TEST(xxh3_hex("abc", 3) == "78af5f94892f3950");
}

BOOST_AUTO_TEST_CASE(hasher_equals_the_whole) {
  std::string text(100000, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = char(i * 31 % 251);
  Hasher hasher;
  for (size_t i = 0; i < text.size(); i += 777) {
    hasher.add(text.data() + i, std::min<size_t>(777, text.size() - i));
  }
  BOOST_TEST(hasher.hex() == xxh3_hex(text.data(), text.size()));
  hasher.add("x", 1);
  BOOST_TEST(hasher.hex() != xxh3_hex(text.data(), text.size()));
}
