#include <sys/resource.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/outputs.h"
#include "tests/support.h"

using namespace tx;
using tx_test::bytes_of;
using tx_test::message_of;
using tx_test::TempFolder;

BOOST_AUTO_TEST_CASE(writer_keeps_order_and_counts) {
  const TempFolder folder;
  Writer writer(folder / "f");
  std::string all;
  for (int i = 0; i < 20000; ++i) {  // below, at and above the buffer
    const std::string chunk(i % 1000 == 7 ? 70000u : size_t(i % 17), char('a' + i % 26));
    all += chunk;
    writer.write(chunk);
    BOOST_REQUIRE(writer.bytes_written() == int64_t(all.size()));
  }
  writer.close();
  BOOST_TEST((bytes_of(folder / "f") == all));
}

// The message has no free space, since /dev/full is not on a disk.
BOOST_AUTO_TEST_CASE(full_device_is_an_error) {
  Writer writer("/dev/full");
  writer.write("x");
  const std::string message = message_of<IoError>([&] { writer.close(); });
  BOOST_TEST(message == "cannot write /dev/full: No space left on device");
  Writer large("/dev/full");
  BOOST_CHECK_THROW(large.write(std::string(1 << 20, 'x')), IoError);
}

BOOST_AUTO_TEST_CASE(atomic_write_replaces_whole) {
  const TempFolder folder;
  write_atomically(folder / "f", "first");
  BOOST_TEST(bytes_of(folder / "f") == "first");
  write_atomically(folder / "f", std::string(1 << 20, 'y'));
  BOOST_TEST(bytes_of(folder / "f").size() == size_t(1 << 20));
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_CASE(atomic_write_that_fails_keeps_the_old) {
  const TempFolder folder;
  const std::string path = folder.file("f", "old");
  const auto failing = [](Writer& writer) {
    writer.write("half");
    writer.flush();
    throw DataError("stop");
  };
  BOOST_TEST(message_of<DataError>([&] { write_atomically(path, failing); }) == "stop");
  BOOST_TEST(bytes_of(path) == "old");
  BOOST_TEST(folder.entries() == 1);  // no temporary file is left
}

// A limit on the size of a file simulates a full disk: the write fails half way.
BOOST_AUTO_TEST_CASE(atomic_write_on_a_full_disk_keeps_the_old) {
  const TempFolder folder;
  const std::string path = folder.file("f", "old");
  const auto child = tx_test::run_in_child([&] {
    const rlimit limit{1 << 16, 1 << 16};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
    const auto write = [&] { write_atomically(path, std::string(1 << 20, 'n')); };
    const std::string message = message_of<IoError>(write);
    return message.starts_with("cannot write " + path) ? 0 : 1;
  });
  BOOST_TEST(child.status == 0);
  BOOST_TEST(bytes_of(path) == "old");
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_CASE(atomic_write_keeps_modes) {
  const TempFolder folder;
  const std::string target = folder.file("target", "old");
  BOOST_REQUIRE(chmod(target.c_str(), 0640) == 0);
  write_atomically(target, "new");
  BOOST_TEST(bytes_of(target) == "new");
  struct stat info;
  BOOST_REQUIRE(stat(target.c_str(), &info) == 0);
  BOOST_TEST((info.st_mode & 0777) == 0640u);
}

// The target of a link is written, whether it exists or not, and the link is kept.
BOOST_AUTO_TEST_CASE(atomic_write_follows_links) {
  const TempFolder folder, elsewhere;
  elsewhere.file("old", "old");
  BOOST_REQUIRE(chmod((elsewhere / "old").c_str(), 0640) == 0);
  std::filesystem::create_symlink("old", elsewhere / "further");  // relative to its own folder
  std::filesystem::create_symlink("none", elsewhere / "broken");
  const std::string link = folder / "link";
  for (const auto& [to, file] : {std::pair{"old", "old"}, {"further", "old"}, {"broken", "none"}}) {
    std::filesystem::remove(link);
    std::filesystem::create_symlink(elsewhere / to, link);
    const std::string text = std::string("to ") + to;
    write_atomically(link, text);
    BOOST_TEST(std::filesystem::is_symlink(link));
    BOOST_TEST(!std::filesystem::is_symlink(elsewhere / file));
    BOOST_TEST(bytes_of(elsewhere / file) == text);
    BOOST_TEST(folder.entries() == 1);
  }
  BOOST_TEST(elsewhere.entries() == 4);
  struct stat info;
  BOOST_REQUIRE(stat((elsewhere / "old").c_str(), &info) == 0);
  BOOST_TEST((info.st_mode & 0777) == 0640u);
}

BOOST_AUTO_TEST_CASE(atomic_write_through_a_link_to_no_file) {
  const TempFolder folder;
  const std::string link = folder / "link";
  std::filesystem::create_symlink("/dev/null", link);
  write_atomically(link, "gone");
  BOOST_TEST(std::filesystem::is_symlink(link));
  for (const std::string& target : {folder.path(), folder / "none/file", link}) {
    std::filesystem::remove(link);
    std::filesystem::create_symlink(target, link);
    BOOST_TEST(message_of<IoError>([&] {
                 write_atomically(link, "new");
               }).starts_with("cannot write " + link + ": "));
    BOOST_TEST(std::filesystem::is_symlink(link));
    BOOST_TEST(folder.entries() == 1);
  }
}

// /dev/stdout is a link to an open file, which is written.
BOOST_AUTO_TEST_CASE(atomic_write_to_dev_stdout_reaches_the_file_behind_it) {
  const TempFolder folder;
  const auto child = tx_test::run_in_child(
      [] {
        write_atomically("/dev/stdout", "new");
        return 0;
      },
      folder / "out");
  BOOST_TEST(child.status == 0);
  BOOST_TEST(bytes_of(folder / "out") == "new");
  BOOST_TEST(std::filesystem::is_symlink("/dev/stdout"));
}

BOOST_AUTO_TEST_CASE(atomic_write_never_renames_over_a_device) {
  struct stat before, after;
  BOOST_REQUIRE(stat("/dev/null", &before) == 0);
  write_atomically("/dev/null", "gone");
  BOOST_REQUIRE(stat("/dev/null", &after) == 0);
  BOOST_TEST(S_ISCHR(after.st_mode));
  BOOST_TEST(before.st_rdev == after.st_rdev);
}

BOOST_AUTO_TEST_CASE(atomic_write_names_the_path_it_was_given) {
  const TempFolder folder;
  const auto message = [&](const std::string& path) {
    return message_of<IoError>([&] { write_atomically(path, "x"); });
  };
  BOOST_TEST(message(folder / "none/f") ==
             "cannot write " + (folder / "none/f") + ": No such file or directory");
  BOOST_TEST(message(folder.path()) == "cannot write " + folder.path() + ": Is a directory");
}

// Root may write everything, so the child becomes another user.
BOOST_AUTO_TEST_CASE(atomic_write_needs_permission) {
  const TempFolder folder;
  const std::string path = folder.file("f", "old");
  BOOST_REQUIRE(chmod(path.c_str(), 0444) == 0);
  BOOST_REQUIRE(chmod(folder.path().c_str(), 0777) == 0);
  const auto child = tx_test::run_in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return 2;
    const std::string wanted = "cannot write " + path + ": Permission denied";
    if (message_of<IoError>([&] { write_atomically(path, "new"); }) != wanted) return 3;
    if (message_of<IoError>([&] { check_output("--out", path, {}); }) != wanted) return 4;
    write_atomically(folder / "g", "new");
    return 0;
  });
  BOOST_TEST(child.status == 0);
  BOOST_TEST(bytes_of(path) == "old");
  BOOST_TEST(bytes_of(folder / "g") == "new");
  if (::geteuid() != 0) return;
  write_atomically(folder / "g", "root's");  // the owner stays
  struct stat info;
  BOOST_REQUIRE(stat((folder / "g").c_str(), &info) == 0);
  BOOST_TEST(info.st_uid == 65534u);
}
