#include "lib/eval/tokenizers/tokenizer.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/eval/tokenizers/unicode.h"
#include "lib/eval/tokenizers/western.h"

namespace {

// The tokens with one space between.
std::string tokens(const std::string& tokenizer, const std::string& text) {
  std::string tokenized, joined;
  tx::make_tokenizer(tokenizer)->apply(text, tokenized);
  tx::Tokens parts;
  tx::split(tokenized, parts);
  for (const std::string_view part : parts)
    joined += (joined.empty() ? "" : " ") + std::string(part);
  return joined;
}

std::string mteval(const std::string& text) { return tokens("13a", text); }

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

BOOST_AUTO_TEST_SUITE(tokenizer)

BOOST_AUTO_TEST_CASE(symbols_are_isolated) {
  BOOST_TEST(mteval("a!b\"c#d$e%f&g(h)i*j+k/l") ==
             "a ! b \" c # d $ e % f & g ( h ) i * j + k / l");
  BOOST_TEST(mteval(":;<=>?@[\\]^_`{|}~") == ": ; < = > ? @ [ \\ ] ^ _ ` { | } ~");
  BOOST_TEST(mteval("it's a well-known “quote”…") == "it's a well-known “quote”…");
}

BOOST_AUTO_TEST_CASE(points_stay_inside_numbers) {
  BOOST_TEST(mteval("1,000.50 was 3.5% of it.") == "1,000.50 was 3.5 % of it .");
  BOOST_TEST(mteval("5. 6, .7 x.8 9.y") == "5 . 6 , . 7 x . 8 9 . y");
  BOOST_TEST(mteval("z. B. usw.") == "z . B . usw .");
}

// A rule continues after its match, so the second of two points lacks its context.
BOOST_AUTO_TEST_CASE(runs_of_points) {
  BOOST_TEST(mteval("a...b") == "a . . . b");
  BOOST_TEST(mteval("1..5") == "1 . . 5");
  BOOST_TEST(mteval("a..5") == "a . .5");
  BOOST_TEST(mteval("ä.ö") == "ä . ö");
}

BOOST_AUTO_TEST_CASE(a_hyphen_is_split_behind_a_digit) {
  BOOST_TEST(mteval("a-b 5-b a-5 5-6 5--6 -5") == "a-b 5 - b a-5 5 - 6 5 - -6 -5");
}

// Expected values: perl -ple 's{(\S)-(\S)}{$1 ##AT##-##AT## $2}g'
BOOST_AUTO_TEST_CASE(compounds_are_split_as_in_get_ende_bleu) {
  const auto split = [](const std::string& text) {
    std::string result;
    tx::split_compounds(text, result);
    return result;
  };
  BOOST_TEST(split("rich-text format") == "rich ##AT##-##AT## text format");
  BOOST_TEST(split("über-ä x-ß") == "über ##AT##-##AT## ä x ##AT##-##AT## ß");
  BOOST_TEST(split("a-b c-d-ef-g") == "a ##AT##-##AT## b c ##AT##-##AT## d-ef ##AT##-##AT## g");
  BOOST_TEST(split("a--b") == "a ##AT##-##AT## -b");
  BOOST_TEST(split("- a- -b -") == "- a- -b -");
  BOOST_TEST(split("") == "");
}

BOOST_AUTO_TEST_CASE(entities_are_resolved_in_order) {
  BOOST_TEST(mteval("&quot;x&quot; &lt;y&gt;") == "\" x \" < y >");
  BOOST_TEST(mteval("&amp;lt;") == "<");
  BOOST_TEST(mteval("&amp;quot;") == "& quot ;");
  BOOST_TEST(mteval("a <skipped> b") == "a b");
}

BOOST_AUTO_TEST_CASE(white_space_of_all_kinds_separates) {
  BOOST_TEST(mteval("a\u00a0b\u2028c\td\re ") == "a b c d e");
  BOOST_TEST(mteval(" \u3000 ") == "");
}

BOOST_AUTO_TEST_CASE(none_and_char) {
  BOOST_TEST(tokens("none", " it's, so &amp; so. ") == "it's, so &amp; so.");
  BOOST_TEST(tokens("char", "ab ä中.") == "a b ä 中 .");
}

BOOST_AUTO_TEST_CASE(intl_splits_marks_next_to_other_characters_than_numbers) {
  BOOST_TEST(tokens("intl", "a—b ¿x? 1,5 1,a a,1 ٣٫٤ 5€") == "a — b ¿ x ? 1,5 1 , a a , 1 ٣٫٤ 5 €");
  BOOST_TEST(tokens("intl", "It was 1998.") == "It was 1998.");
  BOOST_TEST(tokens("intl", "a..5") == "a . .5");
}

// As published: arrows and dashes are split off, ideographs above U+FFFF are not.
BOOST_AUTO_TEST_CASE(zh_splits_chinese_characters) {
  BOOST_TEST(tokens("zh", " 我GPT3.5好。 ") == "我 GPT3.5 好 。");
  BOOST_TEST(tokens("zh", "a—b→c 𠀀𠀁") == "a — b → c 𠀀𠀁");
  BOOST_TEST(tokens("zh", "a. 5.") == "a . 5.");
}

BOOST_AUTO_TEST_CASE(spm_gives_the_tokens_of_a_model) {
  const std::string model = TX_SOURCE_DIR "/tests/golden/scores.model";
  const auto tokenizer = tx::make_tokenizer("spm", model);
  std::string tokenized;
  tokenizer->apply("the cat", tokenized);
  BOOST_TEST(tokenized.starts_with("\u2581"));
  BOOST_TEST(tokenizer->name().starts_with("spm["));
  for (const std::string name : {"flores101", "flores200", "spBLEU-1K"})
    BOOST_TEST(tx::make_tokenizer(name, model)->name() == name + tokenizer->name().substr(3));
  BOOST_CHECK_THROW(tx::make_tokenizer("spm"), tx::UsageError);
  BOOST_CHECK_THROW(tx::make_tokenizer("13a", model), tx::UsageError);
  BOOST_CHECK_THROW(tx::make_tokenizer("spm", TX_SOURCE_DIR "/LICENSE"), tx::DataError);
}

BOOST_AUTO_TEST_CASE(a_name_not_known_is_refused) {
  BOOST_CHECK_THROW(tx::make_tokenizer("14b"), tx::UsageError);
  BOOST_CHECK_THROW(tx::make_tokenizer("ja-mecab"), tx::UsageError);
  for (const std::string name : {"13a", "intl", "char", "zh", "none"}) {
    BOOST_TEST(tx::make_tokenizer(name)->name() == name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

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
