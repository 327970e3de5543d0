// Terms in texts, and what an output must begin with to have one more of them.
#include "lib/search/lines/terminology.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "tests/support.h"
#include "tests/unit/subword/subword_samples.h"

using namespace tx;
using namespace tx_test;

namespace {

const std::unique_ptr<Vocabulary> words = parse_vocabulary(
    "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\na\ndog\nhot\nsaw\nThe\nHund\nHunde\nHUND\nWurst\nbank\n"
    "river\nUfer\nBank\nIT\nit\nEDV\nes\n",
    "words");

Terminology terminology_of(const std::string& lines) {
  const TempFolder folder;
  return Terminology(folder.file("terms", lines));
}

// Each term as "FIRST-LAST:FORM,FORM".
std::string terms_of(const Terminology& glossary, const std::string& text) {
  std::string all;
  for (const Terminology::Term& term : glossary.terms_of(text, *words, *words)) {
    all += (all.empty() ? "" : " ") + std::to_string(term.first) + "-" + std::to_string(term.last);
    for (size_t i = 0; i < term.forms.size(); ++i) all += (i == 0 ? ":" : ",") + term.forms[i];
  }
  return all;
}

// Words as tokens; links[i]: the word that word i is aligned to.
std::vector<Markup::Token> tokens_of(const std::string& output, const std::vector<int64_t>& links) {
  std::vector<Markup::Token> tokens;
  for (size_t begin = 0; begin < output.size();) {
    const size_t end = std::min(output.find(' ', begin + 1), output.size());
    tokens.push_back({begin, end, links.at(tokens.size())});
    begin = end;
  }
  return tokens;
}

std::string corrected(const std::string& output, const std::vector<int64_t>& links,
                      const std::vector<Terminology::Term>& terms, size_t kept = 0) {
  return corrected_prefix(output, terms, tokens_of(output, links), kept);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(terminology)

BOOST_AUTO_TEST_CASE(terms_of_a_text) {
  const Terminology g = terminology_of("dog\tHund|Hunde\n\nhot dog\tWurst\r\nIT\tEDV\nit\tes\n");
  BOOST_TEST(terms_of(g, "a dog saw a hot dog") == "1-2:Hund,Hunde 4-6:Wurst");
  BOOST_TEST(terms_of(g, "dogs, hotdog") == "");
  BOOST_TEST(terms_of(g, "Dog-saw DOG") == "0-1:Hund,Hunde 1-2:HUND");
  BOOST_TEST(terms_of(g, "saw-dog") == "0-1:Hund,Hunde");
  BOOST_TEST(terms_of(g, "IT it It") == "0-1:EDV 1-2:es 2-3:es");
  BOOST_TEST(terms_of(g, "") == "");
  BOOST_TEST(terms_of(terminology_of("dog\tKatze|Hund\nsaw\tKatze"), "dog saw") == "0-1:Hund 1-2");
}

BOOST_AUTO_TEST_CASE(a_context_selects_a_translation) {
  const Terminology g = terminology_of("bank\tBank\nbank\tUfer\tRiver\n");
  BOOST_TEST(terms_of(g, "a bank") == "1-2:Bank");
  BOOST_TEST(terms_of(g, "The river saw a bank") == "4-5:Ufer");
  BOOST_TEST(terms_of(g, "rivers saw a bank") == "3-4:Bank");
}

BOOST_AUTO_TEST_CASE(outputs_that_lack_a_term) {
  const Terminology::Term dog{1, 2, {"Hund", "Hunde"}}, hot{4, 5, {"heiß"}}, never{0, 1, {}};
  BOOST_TEST(contains("zwei Hunde .", dog));
  BOOST_TEST(!contains("zwei Hundes .", dog));
  BOOST_TEST(contains("Heiß ist es", hot));
  BOOST_TEST(!contains("Hund", never));
  BOOST_TEST(corrected("ein Tier .", {0, 1, 2}, {dog}) == "ein Hund");
  BOOST_TEST(corrected("Hunde .", {0, 1}, {dog, never}) == "");
  // The first of those that are missing, in the order of the output.
  BOOST_TEST(corrected("Warmes Tier .", {4, 1, 2}, {dog, hot}) == "Heiß");
  BOOST_TEST(corrected("warmes Tier .", {4, 1, 2}, {dog}) == "warmes Hund");
  // Nothing is aligned to it: behind what the words before it are aligned to, or before the others.
  BOOST_TEST(corrected("ein ist da .", {0, 2, 3, 4}, {dog}) == "ein Hund");
  BOOST_TEST(corrected("ist da .", {2, 3, 4}, {dog}) == "Hund");
  BOOST_TEST(corrected("ist da .", {0, 0, 0}, {dog}) == "ist da Hund");
  BOOST_TEST(corrected("", {}, {dog}) == "Hund");
  // What is kept stays.
  BOOST_TEST(corrected("ein Tier da .", {1, 1, 2, 3}, {dog}, 8) == "ein Tier Hund");
  BOOST_TEST(corrected("ein Tier", {1, 1}, {dog}, 8) == "ein Tier Hund");
  BOOST_TEST(corrected(" Tier", {1}, {dog}, 9) == "Tier Hund");
}

BOOST_AUTO_TEST_CASE(places_within_words_move_to_their_beginning) {
  const Terminology::Term dog{1, 2, {"Hund"}};
  const std::vector<Markup::Token> tokens = {{0, 3, 0}, {3, 5, 2}, {5, 8, 1}, {8, 9, 3}};
  BOOST_TEST(corrected_prefix("einTier .", {{dog}}, tokens, 0) == "Hund");
  const std::vector<Markup::Token> letters = {{0, 2, 0}, {2, 6, 2}, {6, 8, 1}, {8, 9, 3}};
  BOOST_TEST(corrected_prefix("x ßüre .", {{dog}}, letters, 0) == "x Hund");
  const std::vector<Markup::Token> chinese = {{0, 6, 0}, {6, 12, 1}, {12, 15, 2}};
  const Terminology::Term term{1, 2, {"热狗"}};
  BOOST_TEST(corrected_prefix("一只小狗。", {{term}}, chinese, 0) == "一只热狗");
}

BOOST_AUTO_TEST_CASE(malformed_files) {
  const auto says = [](const std::string& what) {
    return [what](const DataError& error) {
      return std::string(error.what()).find(what) != std::string::npos;
    };
  };
  BOOST_CHECK_EXCEPTION(terminology_of("a\tb\ndog Hund\n"), DataError, says("terms:2: no tab"));
  BOOST_CHECK_EXCEPTION(terminology_of("a\tb|\n"), DataError,
                        says("terms:1: a term or translation"));
  BOOST_CHECK_EXCEPTION(terminology_of("\tb\n"), DataError, says("terms:1: a term or translation"));
  BOOST_CHECK_EXCEPTION(terminology_of("a\tb\tc\td\n"), DataError,
                        says("terms:1: more than three"));
  BOOST_CHECK_EXCEPTION(terminology_of("\n"), DataError, says("has no term"));
}

BOOST_AUTO_TEST_SUITE_END()
