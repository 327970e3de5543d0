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
  BOOST_CHECK_NO_THROW(check_output("--out", a, {}));
  BOOST_CHECK_NO_THROW(check_output("--out", a, {b, "-", folder / "none"}));
  BOOST_CHECK_NO_THROW(check_output("--out", folder / "none", {a, folder / "none"}));
  BOOST_CHECK_NO_THROW(check_output("--out", "-", {"-"}));
  BOOST_CHECK_NO_THROW(check_output("--out", "/dev/null", {"/dev/null"}));
  BOOST_TEST(message_of<UsageError>([&] {
               check_output("--out", a, {b, a});
             }) == "--out " + a + " is also an input: choose another name");
  BOOST_TEST(message_of<UsageError>([&] { check_output("--out", link, {a}); }) ==
             "--out " + link + " is also an input, " + a + ": choose another name");
}

BOOST_AUTO_TEST_CASE(an_output_in_an_input_directory_is_named) {
  const tx_test::TempFolder folder;
  const std::string a = folder.file("a", "a"), new_file = folder / "new";
  BOOST_TEST(message_of<UsageError>([&] { check_output("--out", a, {folder.path()}); }) ==
             "--out " + a + " is in the input directory " + folder.path() +
                 ": choose another name");
  BOOST_CHECK_NO_THROW(check_output("--out", new_file, {folder.path()}));
  folder.file("config.json", "{}");
  folder.file("lock", "");
  BOOST_CHECK_NO_THROW(check_output("--out", a, {folder.path()}));
  for (const char* name :
       {"config.json", "log.jsonl", "model-7.safetensors", "flight-1.safetensors"})
    BOOST_TEST(message_of<UsageError>([&] { check_output("--out", folder / name, {}); }) ==
               "--out " + (folder / name) + " belongs to the run directory " + folder.path() +
                   ": choose another name");
  BOOST_CHECK_NO_THROW(check_output("--out", folder / "model-mean.safetensors", {}));
}

BOOST_AUTO_TEST_CASE(descriptors) {
  for (const char* text : {"3", "999999"}) BOOST_TEST(is_descriptor(text));
  for (const char* text : {"1000000", "./3", "3a"}) BOOST_TEST(!is_descriptor(text));
}
