#include "lib/text/model_proto.h"

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "lib/base/error.h"

using namespace tx;

namespace {

std::string field(int number, const std::string& content) {
  std::string out(1, char(number << 3 | 2));
  size_t size = content.size();
  for (; size >= 0x80; size >>= 7) out += char((size & 0x7F) | 0x80);
  return out + char(size) + content;
}

// A normaliser's table: 256 units of a trie, all zero but for one, and its strings.
std::string charsmap(size_t unit, uint32_t value, const std::string& strings) {
  std::string out("\x00\x04\x00\x00", 4);
  out += std::string(1024, '\0') + strings;
  std::memcpy(out.data() + 4 + 4 * unit, &value, 4);
  return out;
}

std::string model(const std::string& map) {
  return field(1, field(1, "piece")) + field(2, "") + field(3, field(2, map));
}

bool sound(const std::string& bytes) {
  try {
    check_model_proto(bytes, "m");
    return true;
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_proto)

BOOST_AUTO_TEST_CASE(pieces_trainer_and_normaliser_are_needed) {
  BOOST_TEST(sound(model("")));
  BOOST_TEST(!sound(""));
  BOOST_TEST(!sound(field(1, field(1, "piece"))));
  BOOST_TEST(!sound(field(1, field(1, "piece")) + field(2, "")));
  BOOST_TEST(!sound(field(2, "") + field(3, "")));
  BOOST_TEST(!sound(model("").substr(1)));
  BOOST_TEST(!sound(model("") + "\x0A\x05x"));
  BOOST_TEST(!sound(model("") + std::string(12, '\xFF')));
}

BOOST_AUTO_TEST_CASE(tables_that_lead_outside_are_refused) {
  const std::string strings("ab\0", 3);
  BOOST_TEST(sound(model(charsmap(0, 0, strings))));
  BOOST_TEST(sound(model(charsmap(7, 3 << 10, strings))));
  BOOST_TEST(!sound(model(charsmap(7, 256 << 10, strings))));        // beyond the trie
  BOOST_TEST(!sound(model(charsmap(7, 1 << 10 | 0x200, strings))));  // the same, coarse offset
  BOOST_TEST(sound(model(charsmap(7, 0x80000000u | 2, strings))));
  BOOST_TEST(!sound(model(charsmap(0, 0x100 | 0x400, "a"))));  // strings do not end in NUL
  // A node that ends a key, whose value is the unit beside it.
  std::string map = charsmap(7, 0x100 | 1 << 10, strings);
  const auto with_value = [&](uint32_t value) {
    std::memcpy(map.data() + 4 + 4 * 6, &value, 4);
    return model(map);
  };
  BOOST_TEST(sound(with_value(0x80000000u | 2)));
  BOOST_TEST(!sound(with_value(0x80000000u | 3)));  // beyond the strings
  BOOST_TEST(!sound(model(std::string("\x00\x04\x00\x00", 4))));
  BOOST_TEST(!sound(model("ab")));
}

BOOST_AUTO_TEST_SUITE_END()
