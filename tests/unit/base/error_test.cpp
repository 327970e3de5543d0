#include "lib/base/error.h"

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <filesystem>

#include "tests/support.h"

using namespace tx;
using tx_test::message_of;

BOOST_AUTO_TEST_CASE(io_error_names_path_and_reason) {
  const IoError error("read", "a/b", ENOENT);
  BOOST_TEST(std::string(error.what()) == "cannot read a/b: No such file or directory");
  BOOST_TEST(error.error_number == ENOENT);
  BOOST_TEST(std::string(IoError("write", "x", ENOSPC, "3 MiB free").what()) ==
             "cannot write x: No space left on device (3 MiB free)");
}

BOOST_AUTO_TEST_CASE(a_broken_link_is_distinguished_from_a_missing_file) {
  const tx_test::TempFolder folder;
  std::filesystem::create_symlink("none", folder / "link");
  BOOST_TEST(std::string(IoError("read", folder / "link", ENOENT).what()) ==
             "cannot read " + (folder / "link") +
                 ": No such file or directory (a link to none, which does not exist)");
  BOOST_TEST(std::string(IoError("read", folder / "link", EACCES).what()) ==
             "cannot read " + (folder / "link") + ": Permission denied");
}

BOOST_AUTO_TEST_CASE(an_assertion_names_condition_and_place) {
  BOOST_CHECK_NO_THROW(TX_ASSERT(1 + 1 == 2));
  const std::string message = message_of<Bug>([] { TX_ASSERT(1 + 1 == 3); });
  BOOST_TEST(message.find("1 + 1 == 3") != std::string::npos);
  BOOST_TEST(message.find("error_test.cpp:") != std::string::npos);
}
