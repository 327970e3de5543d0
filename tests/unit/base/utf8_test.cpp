#include "lib/base/utf8.h"

#include <boost/test/unit_test.hpp>

using namespace tx;

namespace {

const std::string mark = "\xEF\xBF\xBD";  // U+FFFD

void check_repair(std::string bytes, const std::string& expected, int64_t count) {
  BOOST_TEST(count_invalid_utf8(bytes) == count);
  BOOST_TEST(repair_utf8(bytes) == count);
  BOOST_TEST(bytes == expected);
  BOOST_TEST(count_invalid_utf8(bytes) == 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(valid_text_stays) {
  for (const std::string text :
       {"", "plain", "\xC2\x80 \xDF\xBF", "\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF",
        "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", "12345678\xC3\xA4 12345678"}) {
    check_repair(text, text, 0);
  }
  check_repair(std::string("a\0b", 3), std::string("a\0b", 3), 0);
}

// The examples of Unicode 15, section 3.9, tables 3-8 to 3-11, with the counts given there.
BOOST_AUTO_TEST_CASE(maximal_subparts) {
  check_repair("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41",
               mark + mark + mark + mark + mark + mark + mark + mark + "A", 8);
  check_repair("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41",
               mark + mark + mark + mark + mark + mark + mark + mark + "A", 8);
  check_repair("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42",
               mark + mark + mark + mark + mark + "A" + mark + mark + "B", 7);
  check_repair("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", mark + mark + mark + mark + "A", 4);
}

BOOST_AUTO_TEST_CASE(cut_at_the_end) {
  check_repair("ab\xE2\x82", "ab" + mark, 1);
  check_repair("\xF0\x9F\x98", mark, 1);
  check_repair("\xC3", mark, 1);
  check_repair("12345678\xFF", "12345678" + mark, 1);
}

BOOST_AUTO_TEST_CASE(code_points_there_and_back) {
  for (const char32_t c : {0x0u, 0x41u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0x20ACu, 0xFFFDu, 0xFFFFu,
                           0x10000u, 0x1F600u, 0x10FFFFu}) {
    std::string text = "<";
    append_code_point(text, c);
    const size_t end = text.size();
    text += ">";
    BOOST_TEST(count_invalid_utf8(text) == 0);
    size_t i = 1;
    BOOST_TEST(uint32_t(next_code_point(text, i)) == uint32_t(c));
    BOOST_TEST(i == end);
  }
}

BOOST_AUTO_TEST_CASE(classes_of_characters) {
  for (const char32_t c : {U'.', U',', U'-', U'“', U'¿', U'。', U'_', U'%'})
    BOOST_TEST((class_of(c) == CharacterClass::punctuation));
  for (const char32_t c : {U'0', U'½', U'٣'}) BOOST_TEST((class_of(c) == CharacterClass::number));
  for (const char32_t c : {U'+', U'€', U'☃'}) BOOST_TEST((class_of(c) == CharacterClass::symbol));
  for (const char32_t c : {U'a', U' ', U'字', char32_t(0x10FFFF)})
    BOOST_TEST((class_of(c) == CharacterClass::other));
}

// What moves the cursor, ends the line, colours it or turns its direction is escaped.
BOOST_AUTO_TEST_CASE(untrusted_text_is_printable) {
  for (const std::string kept : {"", "a\tb", "\xC3\xA4 \xE4\xB8\xAD \xF0\x9F\x98\x80 \\n"})
    BOOST_TEST(printable(kept) == kept);
  BOOST_TEST(printable(std::string("a\0b", 3)) == "a\\u0000b");
  BOOST_TEST(printable("\x1B[2J\r\n\x7F") == "\\u001b[2J\\u000d\\n\\u007f");
  BOOST_TEST(printable("\xC2\x9B"
                       "31m\xC2\xA0") == "\\u009b31m\xC2\xA0");
  BOOST_TEST(printable("\xE2\x80\xAE"
                       "cod\xE2\x81\xA9\xE2\x80\xA8") == "\\u202ecod\\u2069\\u2028");
  BOOST_TEST(printable("\x9B"
                       "31m \xC3") == "\\x9b31m \\xc3");
}

BOOST_AUTO_TEST_CASE(white_space) {
  int count = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) count += is_white_space(c);
  BOOST_TEST(count == 25);  // the property White_Space of Unicode 15
  BOOST_TEST(is_white_space(U'\u3000'));
  BOOST_TEST(!is_white_space(U'\u200B'));
  BOOST_TEST(is_blank(""));
  BOOST_TEST(is_blank(" \t\r\u00A0\u3000\u2028"));
  BOOST_TEST(!is_blank(" \u200B "));
  BOOST_TEST(trimmed("") == "");
  BOOST_TEST(trimmed("\u3000 \t") == "");
  BOOST_TEST(trimmed("\u3000 \tä \u00A0ö\r\u2029") == "ä \u00A0ö");
  BOOST_TEST(trimmed("a") == "a");
  BOOST_TEST(trimmed("字 ") == "字");
}
