#include "lib/convert/formats/zip.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/support.h"
#include "tests/unit/convert/samples.h"

using namespace tx;
using namespace tx_test;

namespace {

std::string message(const std::string& bytes) {
  return message_of<DataError>([&] {
    const ZipArchive zip(bytes, "F");
    std::string room;
    for (const auto& e : zip.entries()) zip.content(e, room);
  });
}

void expect(const std::string& text, const std::string& bytes) {
  BOOST_TEST(message(bytes).find(text) != std::string::npos, message(bytes) << " lacks " << text);
}

// "aaaaaaaaaa" by deflate with the fixed code: an 'a', then 9 bytes from a distance of 1.
const std::string ten_a("\x4B\x84\x03\x00", 4);

}  // namespace

BOOST_AUTO_TEST_CASE(entries_stored_and_deflated) {
  const std::string bytes =
      zip_bytes({{"a", "plain"}, {"b", std::string(10, 'a'), ten_a}, {"c", ""}}, 7);
  const ZipArchive zip(bytes, "F");
  BOOST_TEST(zip.entries().size() == 3u);
  std::string room;
  BOOST_TEST(zip.content(*zip.find("a"), room) == "plain");
  BOOST_TEST(zip.content(*zip.find("b"), room) == "aaaaaaaaaa");
  BOOST_TEST(zip.content(*zip.find("c"), room) == "");
  BOOST_TEST(zip.find("d") == nullptr);
}

// With the sizes in the extra field, and the list found by the zip64 record.
BOOST_AUTO_TEST_CASE(zip64) {
  const std::string data = "12345",
                    common = little(0, 2) + little(0, 2) + little(0, 4) + little(crc32_of(data), 4);
  const std::string entry = "PK\x03\x04" + little(45, 2) + common + little(5, 4) + little(5, 4) +
                            little(1, 2) + little(0, 2) + "n" + data;
  const std::string extra = little(9, 2) + little(1, 2) + "x" + little(1, 2) + little(24, 2) +
                            little(5, 8) + little(5, 8) + little(0, 8);
  const std::string full = little(0xFFFFFFFF, 4);
  const std::string list = "PK\x01\x02" + little(45, 2) + little(45, 2) + common + full + full +
                           little(1, 2) + little(extra.size(), 2) + little(0, 10) + full + "n" +
                           extra;
  const std::string end64 = "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) +
                            little(0, 8) + little(1, 8) + little(1, 8) + little(list.size(), 8) +
                            little(entry.size(), 8);
  const std::string bytes = entry + list + end64 + "PK\x06\x07" + little(0, 4) +
                            little(entry.size() + list.size(), 8) + little(1, 4) + "PK\x05\x06" +
                            little(0, 4) + little(0xFFFF, 2) + little(0xFFFF, 2) + full + full +
                            little(0, 2);
  const ZipArchive zip(bytes, "F");
  std::string room;
  BOOST_TEST(zip.content(*zip.find("n"), room) == data);
  expect("zip64 record is not where it should be",
         std::string(bytes).replace(bytes.find("PK\x06\x06"), 4, "PKxx"));
}

BOOST_AUTO_TEST_CASE(archives_that_are_refused) {
  const std::string good = zip_bytes({{"a", "plain"}});
  expect("it has only 4 bytes", "PK\x03\x04");
  expect("its list of entries is missing", good.substr(0, good.size() - 1));
  expect("twice", zip_bytes({{"a", "1"}, {"a", "2"}}));
  std::string changed = good;
  changed[changed.find("plain")] ^= 1;
  expect("\"a\" does not have its checksum", changed);
  expect("\"a\" has two sizes", zip_bytes({{"a", "plain", "", 6}}));
  expect("cannot be unpacked", zip_bytes({{"a", std::string(11, 'a'), ten_a}}));
  expect("cannot be unpacked", zip_bytes({{"a", std::string(9, 'a'), ten_a}}));
  const size_t list = good.find("PK\x01\x02");
  const auto with = [&](size_t at, const std::string& number) {
    return std::string(good).replace(list + at, number.size(), number);
  };
  expect("is encrypted", with(8, little(1, 2)));
  expect("compressed by method 14", with(10, little(14, 2)));
  expect("lies outside", with(42, little(good.size(), 4)));
  expect("lies outside", with(20, little(1000, 4) + little(1000, 4)));
  expect("its list of entries is cut off", with(28, little(60000, 2)));
  expect("is not where it should be", with(42, little(1, 4)));
}

// Neither a ratio that no weights have, nor entries that share their bytes.
BOOST_AUTO_TEST_CASE(bombs) {
  expect("would grow from 4 to 1073741824 bytes", zip_bytes({{"a", "", ten_a, 1u << 30}}));
  std::string two = zip_bytes({{"a", "plain"}, {"b", "plain"}});
  const size_t second = two.rfind("PK\x01\x02");
  two.replace(second + 42, 4, little(0, 4));
  expect("its entries overlap", two);
}
