#include "lib/eval/tokenizers/unicode.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "lib/base/utf8.h"

namespace {

std::string character(char32_t c) {
  std::string text;
  tx::append_code_point(text, c);
  return text;
}

bool listed_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::string lower(const std::string& text) {
  std::string lowered;
  tx::Lowercaser().apply(text, lowered);
  return lowered;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unicode)

BOOST_AUTO_TEST_CASE(white_space_is_what_the_header_lists) {
  int wrong = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    const std::string text = character(c);
    const size_t expected = listed_white_space(c) ? text.size() : 0;
    if (tx::white_space(text, 0) != expected) ++wrong;
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(white_space_at_the_very_end_of_a_text) {
  BOOST_TEST(tx::white_space("x", 1) == 0U);
  BOOST_TEST(tx::white_space(std::string_view("\xE2\x80\x80", 2), 0) == 0U);
}

BOOST_AUTO_TEST_CASE(splitting_and_stripping) {
  tx::Tokens tokens;
  tx::split("  a\u00a0 bc\u2003d", tokens);
  BOOST_TEST(tokens == (tx::Tokens{"a", "bc", "d"}), boost::test_tools::per_element());
  tx::split(" \t", tokens);
  BOOST_TEST(tokens.empty());
  BOOST_TEST(tx::strip_right(" a b\u3000\u0085 \r") == " a b");
  BOOST_TEST(tx::strip_right("ä") == "ä");
  BOOST_TEST(tx::strip_right("\u2028 ") == "");
}

BOOST_AUTO_TEST_CASE(lower_case_in_several_scripts) {
  BOOST_TEST(lower("ABC xyz 123") == "abc xyz 123");
  BOOST_TEST(lower("ÄÖÜẞ ÉÇŒ ŁŻ") == "äöüß éçœ łż");
  BOOST_TEST(lower("МОСКВА Ⴀ Ա 𐐀 Ａ 中") == "москва ⴀ ա 𐐨 ａ 中");
  BOOST_TEST(lower("İI") == "i\u0307i");
}

BOOST_AUTO_TEST_CASE(sigma_at_the_end_of_a_word) {
  BOOST_TEST(lower("ΟΔΟΣ ΣΟΦΟΣ.") == "οδος σοφος.");
  BOOST_TEST(lower("Σ ΣΣ") == "σ σς");
  BOOST_TEST(lower("ΑΣ' ΑΣ'Α Α\u0301Σ") == "ας' ασ'α α\u0301ς");
  BOOST_TEST(lower("1Σ Α1Σ") == "1σ α1σ");
}

BOOST_AUTO_TEST_SUITE_END()
