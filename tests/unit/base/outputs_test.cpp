#include "lib/base/outputs.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "tests/support.h"

using namespace tx;
using tx_test::message_of;

BOOST_AUTO_TEST_CASE(an_output_that_is_an_input_is_named) {
  const tx_test::TempFolder folder;
  const std::string a = folder / "a", b = folder / "b", link = folder / "link";
  write_atomically(a, "a");
  write_atomically(b, "b");
  std::filesystem::create_symlink("a", link);
  BOOST_CHECK_NO_THROW(check_output(a, {}));
  BOOST_CHECK_NO_THROW(check_output(a, {b, "-", folder / "none"}));
  BOOST_CHECK_NO_THROW(check_output(folder / "none", {a, folder / "none"}));
  BOOST_CHECK_NO_THROW(check_output("-", {"-"}));
  BOOST_CHECK_NO_THROW(check_output("/dev/null", {"/dev/null"}));
  BOOST_TEST(message_of<UsageError>([&] {
               check_output(a, {b, a});
             }) == "--out " + a + " is also an input: choose another name");
  BOOST_TEST(message_of<UsageError>([&] { check_output(link, {a}); }) ==
             "--out " + link + " is also an input, " + a + ": choose another name");
}
