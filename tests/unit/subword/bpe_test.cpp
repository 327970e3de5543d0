#include "lib/subword/bpe.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <map>

using namespace tx;

namespace {

struct Token {
  int id;
  std::string text;
  float score;
  bool user = false;
};

// The tokens and, from id 1000 on, those of bytes; the other ids are unused.
std::optional<BpeEncoder> encoder_of(std::vector<Token> list) {
  using Kind = TokenTable::Kind;
  TokenTable table;
  std::map<int, const Token*> by_id;
  for (const Token& token : list) by_id[token.id] = &token;
  const int last = std::max(by_id.rbegin()->first, 1255);
  for (int id = 0; id <= last; ++id) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", unsigned(id - 1000) & 0xFF);
    if (const auto found = by_id.find(id); found != by_id.end())
      table.add(found->second->text, found->second->user ? Kind::user : Kind::normal,
                found->second->score);
    else if (id >= 1000 && id <= 1255)
      table.add(name, Kind::byte, 0);
    else
      table.add("unused " + std::to_string(id), Kind::control, 0);
  }
  return BpeEncoder::make(table);
}

std::vector<Token> tokens() {
  return {{4, "▁", -9}, {5, "a", -9},  {6, "b", -9},    {7, "é", -9},
          {8, "ab", 0}, {9, "▁a", -1}, {10, "aba", -2}, {11, "ba", -3}};
}

std::vector<int> encode(std::string_view word) {
  std::vector<int> ids;
  encoder_of(tokens())->encode_word(word, ids);
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

// Above 100 symbols another algorithm is used, which must choose the same merges.
BOOST_AUTO_TEST_CASE(long_words_are_cut_as_short_ones) {
  check(std::string(300, 'b'), [] {
    std::vector<int> ids(301, 6);
    ids[0] = 4;
    return ids;
  }());
  std::string word = "ab";
  std::vector<int> expected = {4, 8};
  for (int i = 0; i < 60; ++i) {
    word += "éab";
    expected.insert(expected.end(), {7, 8});
  }
  check(word, expected);
  check(word + "ab", [&] {
    std::vector<int> ids = expected;
    ids.push_back(8);
    return ids;
  }());
}

BOOST_AUTO_TEST_CASE(a_million_characters_take_no_square_of_the_time) {
  std::string word;
  for (int i = 0; i < 250000; ++i) word += "abéa";
  BOOST_TEST(encode(word).size() == 750001u);
}

BOOST_AUTO_TEST_CASE(very_long_tokens_are_left_to_others) {
  std::vector<Token> list = tokens();
  list.push_back({15, std::string(1000, 'a'), -5});
  BOOST_TEST(encoder_of(list).has_value());
  list.push_back({16, std::string(1001, 'a'), -5});
  BOOST_TEST(!encoder_of(list).has_value());
}

// The encoder must not try 100,000 symbols one after another at each character.
BOOST_AUTO_TEST_CASE(many_user_symbols_with_one_beginning) {
  std::vector<Token> list = tokens();
  for (int i = 0; i < 100000; ++i)
    list.push_back({2000 + i, "#" + std::to_string(i) + ";", 0, true});
  const auto encoder = encoder_of(list);
  std::vector<int> ids;
  encoder->encode_word("#7;#99999;", ids);
  BOOST_TEST(ids == (std::vector<int>{4, 2007, 101999}), boost::test_tools::per_element());
  ids.clear();
  encoder->encode_word(std::string(1000000, '#'), ids);
  BOOST_TEST(ids.size() == 1000001u);
}

BOOST_AUTO_TEST_CASE(user_symbols_are_never_merged) {
  std::vector<Token> list = tokens();
  list.push_back({12, "ab", 0, true});
  list.push_back({13, "aba", 0, true});
  list.push_back({14, "+", 0, true});
  const auto encoder = encoder_of(list);
  std::vector<int> ids;
  encoder->encode_word("abab+ba", ids);  // the longest symbol wins
  BOOST_TEST(ids == (std::vector<int>{4, 13, 6, 14, 11}), boost::test_tools::per_element());
  list.push_back({15, "▁+", 0, true});
  BOOST_TEST(!encoder_of(list).has_value());
}

BOOST_AUTO_TEST_CASE(restricted_tokens_are_parted_again) {
  auto encoder = encoder_of(tokens());
  std::vector<bool> usable(12, true);
  const auto cut = [&](int without, std::string_view word) {
    usable[size_t(without)] = false;
    encoder->restrict_to(usable);
    std::vector<int> ids;
    encoder->encode_word(word, ids);
    return ids;
  };
  BOOST_TEST(cut(10, "aba") == (std::vector<int>{4, 8, 5}), boost::test_tools::per_element());
  BOOST_TEST(cut(8, "aba") == (std::vector<int>{4, 5, 6, 5}), boost::test_tools::per_element());
  BOOST_TEST(cut(9, "a") == (std::vector<int>{4, 5}), boost::test_tools::per_element());
}

std::vector<int> with_dropout(std::string_view word, double probability, int64_t line) {
  std::vector<int> ids;
  MergeDraws draws({probability, 7}, line);
  encoder_of(tokens())->encode_word(word, ids, &draws);
  return ids;
}

BOOST_AUTO_TEST_CASE(dropout_of_none_and_of_all) {
  BOOST_TEST(with_dropout("aba", 0, 1) == encode("aba"), boost::test_tools::per_element());
  BOOST_TEST(with_dropout("aba", 1, 1) == (std::vector<int>{4, 5, 6, 5}),
             boost::test_tools::per_element());
  const std::string word(150, 'a');
  BOOST_TEST(with_dropout(word, 1, 1).size() == 151u);
  BOOST_TEST(with_dropout(word, 0, 1) == encode(word), boost::test_tools::per_element());
}

// "ab" has two possible merges, a+b and ▁+a. The first is done with probability 1 - p; else, with
// 1 - p again, the second; both are left out with p * p. When a+b is done nothing more is possible.
BOOST_AUTO_TEST_CASE(dropout_has_its_probability) {
  constexpr int lines = 40000;
  constexpr double p = 0.3;
  std::map<std::vector<int>, int> seen;
  for (int line = 1; line <= lines; ++line) ++seen[with_dropout("ab", p, line)];
  BOOST_TEST(seen.size() == 3u);
  const auto share = [&](const std::vector<int>& ids) { return seen[ids] / double(lines); };
  BOOST_TEST(std::abs(share({4, 8}) - (1 - p)) < 0.012);  // five standard deviations
  BOOST_TEST(std::abs(share({9, 6}) - p * (1 - p)) < 0.012);
  BOOST_TEST(std::abs(share({4, 5, 6}) - p * p) < 0.012);
}

// The heap of long words must also draw anew in each round. There are many rounds, so that in the
// end nearly every "ab" is merged.
BOOST_AUTO_TEST_CASE(dropout_of_long_words) {
  std::string word;
  for (int i = 0; i < 200; ++i) word += "éab";
  const std::vector<int> ids = with_dropout(word, 0.3, 5);
  const auto merged = std::count(ids.begin(), ids.end(), 8);
  BOOST_TEST(merged >= 195);
  BOOST_TEST(with_dropout(word, 0.3, 5) == ids, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(tables_that_reach_beyond_words_are_refused) {
  const auto usable = [](const Token& more) {
    std::vector<Token> list = tokens();
    list.push_back(more);
    return encoder_of(list).has_value();
  };
  BOOST_TEST(usable({12, "bb", -4}));
  BOOST_TEST(!usable({12, "b▁a", -4}));
  BOOST_TEST(!usable({12, "▁▁", -4}));
  BOOST_TEST(!usable({12, "xb", -4}));  // x is not a token
  BOOST_TEST(!usable({12, "", -4}));
  BOOST_TEST(!encoder_of({{5, "a", 0}}).has_value());  // no ▁
}

BOOST_AUTO_TEST_SUITE_END()
