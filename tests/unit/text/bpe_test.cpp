#include "lib/text/bpe.h"

#include <boost/test/unit_test.hpp>

using namespace tx;

namespace {

std::array<int, 256> byte_ids() {
  std::array<int, 256> ids{};
  for (int i = 0; i < 256; ++i) ids[size_t(i)] = 1000 + i;
  return ids;
}

std::vector<BpePiece> pieces() {
  return {{4, "▁", -9}, {5, "a", -9},  {6, "b", -9},    {7, "é", -9},
          {8, "ab", 0}, {9, "▁a", -1}, {10, "aba", -2}, {11, "ba", -3}};
}

std::vector<int> encode(std::string_view word) {
  std::vector<int> ids;
  BOOST_TEST(BpeEncoder::make(pieces(), byte_ids())->encode_word(word, ids));
  return ids;
}

void check(std::string_view word, const std::vector<int>& expected) {
  BOOST_TEST_INFO(word);
  BOOST_TEST(encode(word) == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bpe)

BOOST_AUTO_TEST_CASE(the_best_merge_is_done_first) {
  check("", {4});
  check("a", {9});
  check("ab", {4, 8});  // "ab" before "▁a"
  check("aab", {9, 8});
  check("aba", {4, 10});
  check("ababa", {4, 8, 10});  // the two "ab" from the left, then "ab" + "a"
  check("ba", {4, 11});
}

BOOST_AUTO_TEST_CASE(unknown_characters_become_bytes) {
  check("éa", {4, 7, 5});
  check("\xC3\xBC", {4, 1000 + 0xC3, 1000 + 0xBC});
  check("▁a", {4, 1000 + 0xE2, 1000 + 0x96, 1000 + 0x81, 5});
  check(std::string_view("\0", 1), {4, 1000});
}

BOOST_AUTO_TEST_CASE(long_words_are_left_to_others) {
  std::vector<int> ids = {1};
  const auto encoder = BpeEncoder::make(pieces(), byte_ids());
  BOOST_TEST(!encoder->encode_word(std::string(101, 'b'), ids));
  BOOST_TEST(ids.size() == 1u);
  BOOST_TEST(encoder->encode_word(std::string(100, 'b'), ids));
  BOOST_TEST(ids.size() == 102u);
}

BOOST_AUTO_TEST_CASE(tables_that_reach_beyond_words_are_refused) {
  const auto usable = [](const BpePiece& more) {
    std::vector<BpePiece> list = pieces();
    list.push_back(more);
    return BpeEncoder::make(list, byte_ids()).has_value();
  };
  BOOST_TEST(usable({12, "bb", -4}));
  BOOST_TEST(!usable({12, "b▁a", -4}));
  BOOST_TEST(!usable({12, "▁▁", -4}));
  BOOST_TEST(!usable({12, "xb", -4}));  // x is no piece
  BOOST_TEST(!usable({12, "", -4}));
  BOOST_TEST(!BpeEncoder::make({{5, "a", 0}}, byte_ids()).has_value());  // no word sign
}

BOOST_AUTO_TEST_SUITE_END()
