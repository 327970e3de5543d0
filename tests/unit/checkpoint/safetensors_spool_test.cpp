#include "lib/checkpoint/safetensors_spool.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "lib/base/error.h"
#include "lib/checkpoint/safetensors.h"
#include "tests/support.h"

using namespace tx;
using namespace tx_test;

namespace {

size_t files_in(const std::string& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(tensors_come_back) {
  TempFolder folder;
  SafetensorsSpool spool(folder / "file", {{"format", "test"}});
  spool.add("1.a", "F32", {2}, std::string("12345678"));
  spool.add("1.\"b", "U8", {0, 3}, "");
  spool.add("2.a", "F16", {1, 2}, "abcd");
  BOOST_TEST(!std::filesystem::exists(folder / "file"));
  spool.close();
  const SafetensorsReader file(folder / "file");
  BOOST_REQUIRE(file.tensors().size() == 3u);
  BOOST_TEST(*file.metadata("format") == "test");
  BOOST_TEST(file.verified_hash() == *file.metadata("xxh3"));
  const TensorInfo* last = file.find("2.a");
  BOOST_REQUIRE(last);
  BOOST_TEST(shape_text(last->shape) == "[1, 2]");
  BOOST_TEST(std::string(file.data(*last), 4) == "abcd");
  BOOST_TEST(file.find("1.\"b")->bytes() == 0);
  BOOST_TEST(reinterpret_cast<uintptr_t>(file.data(*file.find("1.a"))) % 64 == 0u);
}

BOOST_AUTO_TEST_CASE(no_tensor_at_all) {
  TempFolder folder;
  SafetensorsSpool(folder / "file", {}).close();
  BOOST_TEST(SafetensorsReader(folder / "file").tensors().empty());
}

BOOST_AUTO_TEST_CASE(nothing_is_left_behind) {
  TempFolder folder;
  {
    SafetensorsSpool spool(folder / "file", {});
    spool.add("a", "U8", {1}, "x");
    BOOST_TEST(files_in(folder.path()) == 2u);
  }
  BOOST_TEST(files_in(folder.path()) == 0u);
  SafetensorsSpool(folder / "file", {}).close();
  BOOST_TEST(files_in(folder.path()) == 1u);
  BOOST_CHECK_THROW(SafetensorsSpool(folder / "none/file", {}), IoError);
}

// What readers refuse is not written.
BOOST_AUTO_TEST_CASE(a_header_that_is_too_long) {
  TempFolder folder;
  SafetensorsSpool spool(folder / "file", {});
  const std::string name(1'000'000, 'n');
  const auto message = message_of<DataError>([&] {
    for (int i = 0; i < 101; ++i) spool.add(std::to_string(i) + name, "U8", {0}, "");
  });
  BOOST_TEST(message.find("its header would pass 100000000 bytes") != message.npos);
}
