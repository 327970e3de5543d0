#include "lib/subword/model_proto.h"

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

// The units of an empty trie: no unit has the label that a child at its place would have.
std::vector<uint32_t> empty_trie(size_t blocks) {
  std::vector<uint32_t> units(256 * blocks);
  for (size_t i = 0; i < units.size(); ++i) units[i] = uint32_t(i & 0xFF) ^ 1;
  return units;
}

// A normaliser's table.
std::string charsmap(const std::vector<uint32_t>& units, const std::string& strings) {
  const auto bytes = uint32_t(4 * units.size());
  std::string out(4 + bytes, '\0');
  std::memcpy(out.data(), &bytes, 4);
  std::memcpy(out.data() + 4, units.data(), bytes);
  return out + strings;
}

// A table with a single unit.
std::string charsmap(size_t unit, uint32_t value, const std::string& strings) {
  std::vector<uint32_t> units = empty_trie(1);
  units[unit] = value;
  return charsmap(units, strings);
}

// The keys "a", "aa", ... up to `keys` of them; the last leads to the node `back` keys before it.
std::string chain(size_t keys, size_t back = 0) {
  std::vector<uint32_t> units = empty_trie(keys + 2);
  const auto base = [](size_t key) { return 256 * (key + 1); };
  units[0] = uint32_t(base(0)) << 10;
  for (size_t key = 1; key <= keys; ++key) {
    const size_t node = base(key - 1) ^ 'a', next = base(key == keys ? key - back : key);
    units[node] = 'a' | 0x100 | uint32_t(node ^ next) << 10;
    units[next] = 0x80000000u;
  }
  return charsmap(units, std::string("a\0", 2));
}

std::string model(const std::string& map) {
  return field(1, field(1, "piece")) + field(2, "") + field(3, field(2, map));
}

std::string user_piece(const std::string& text) { return field(1, field(1, text) + "\x18\x04"); }

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

BOOST_AUTO_TEST_CASE(tokens_trainer_and_normaliser_are_needed) {
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
  BOOST_TEST(sound(model(charsmap(0, 1, strings))));
  BOOST_TEST(sound(model(charsmap(7, 3 << 10, strings))));
  BOOST_TEST(!sound(model(charsmap(7, 256 << 10, strings))));        // beyond the trie
  BOOST_TEST(!sound(model(charsmap(7, 1 << 10 | 0x200, strings))));  // the same, coarse offset
  BOOST_TEST(sound(model(charsmap(7, 0x80000000u | 2, strings))));
  BOOST_TEST(!sound(model(charsmap(0, 0x100 | 0x400, "a"))));  // strings do not end in NUL
  // A node that ends a key, whose value is the next unit.
  std::string map = charsmap(7, 0x100 | 1 << 10, strings);
  const auto with_value = [&](uint32_t value) {
    std::memcpy(map.data() + 4 + 4 * 6, &value, 4);
    return model(map);
  };
  BOOST_TEST(sound(with_value(0x80000000u | 2)));
  BOOST_TEST(!sound(with_value(0x80000000u | 3)));  // beyond the strings
  BOOST_TEST(!sound(model(std::string("\x00\x04\x00\x00", 4))));
  BOOST_TEST(!sound(model("ab")));
  BOOST_TEST(!sound(model(charsmap(0, 0x80000000u, strings))));  // a root that is a value
}

// SentencePiece writes out of bounds if more than 32 keys are prefixes of a text.
BOOST_AUTO_TEST_CASE(tables_with_too_many_keys_on_a_path_are_refused) {
  BOOST_TEST(sound(model(chain(32))));
  BOOST_TEST(!sound(model(chain(33))));
  BOOST_TEST(!sound(model(chain(1, 1))));
  BOOST_TEST(!sound(model(chain(5, 3))));
}

BOOST_AUTO_TEST_CASE(user_tokens_nested_too_deep_are_refused) {
  std::string bytes = model("") + user_piece("x"), text;
  for (int i = 0; i < 64; ++i) bytes += user_piece(text += '-');
  BOOST_TEST(sound(bytes));
  BOOST_TEST(sound(bytes + user_piece("--x") + user_piece(text.substr(1) + "x")));
  BOOST_TEST(!sound(user_piece(text + "x") + bytes));
  BOOST_TEST(nested_too_deep({}).empty());
  BOOST_TEST(nested_too_deep({"", "a", "a", "ab"}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
