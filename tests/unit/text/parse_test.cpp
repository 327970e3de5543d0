#include "lib/text/parse.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;

namespace {

std::string split(std::string_view line) {
  std::string out;
  for (const std::string_view sentence : split_sentences(line))
    out += (out.empty() ? "" : "|") + std::string(sentence);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(sentences_are_split) {
  BOOST_TEST(split("One. Two! Three? Four") == "One.|Two!|Three?|Four");
  BOOST_TEST(split("One.  Two. ") == "One.|Two. ");
  BOOST_TEST(split("He said \"Go.\" Then he went.") == "He said \"Go.\"|Then he went.");
  BOOST_TEST(split("Really?! Yes... No.") == "Really?!|Yes...|No.");
  BOOST_TEST(split("a dog runs . two cats sleep . ") == "a dog runs .|two cats sleep . ");
  BOOST_TEST(split("Ja. \u00DCber uns.") == "Ja.|\u00DCber uns.");
  BOOST_TEST(split("\u597D\u3002\u662F\u5417\uFF1F\u662F") ==
             "\u597D\u3002|\u662F\u5417\uFF1F|\u662F");
}

BOOST_AUTO_TEST_CASE(abbreviations_and_numbers_do_not_end_a_sentence) {
  for (const char* line :
       {"", "word", "One. two", "v1.2 is out", "Am 3. Oktober", "J. S. Bach plays", "e.g. this",
        "www.example.org", " . ", "!", "One.", ". one", "er ... geht", "Quoi ! dit-il"})
    BOOST_TEST(split(line) == line);
}

BOOST_AUTO_TEST_CASE(sentences_of_other_scripts) {
  BOOST_TEST(split("यह घर है। वह गया। \"हाँ।\" सब॥और") == "यह घर है।|वह गया।|\"हाँ।\"|सब॥|और");
  BOOST_TEST(split("كيف حالك؟ أنا بخير. شكرا") == "كيف حالك؟|أنا بخير.|شكرا");
  BOOST_TEST(split("کیا حال ہے؟ ٹھیک ہے۔شکریہ۔") == "کیا حال ہے؟|ٹھیک ہے۔|شکریہ۔");
  BOOST_TEST(split("ይህ ቤት ነው። ሰላም ነህ፧ አዎ።") == "ይህ ቤት ነው።|ሰላም ነህ፧|አዎ።");
  BOOST_TEST(split("Բարև ձեզ։ Լավ։") == "Բարև ձեզ։|Լավ։");
  BOOST_TEST(split("သွားပြီ။ဟုတ်") == "သွားပြီ။|ဟုတ်");
  BOOST_TEST(split("Τι κάνεις\u037E Καλά. Έλα; Όχι") == "Τι κάνεις\u037E|Καλά.|Έλα;|Όχι");
  BOOST_TEST(split("a; B") == "a; B");
  BOOST_TEST(split("他说：「好。」然后。（对！）是") == "他说：「好。」|然后。|（对！）|是");
  BOOST_TEST(split("Да. Он ушёл.\u3000Потом") == "Да.|Он ушёл.|Потом");
  BOOST_TEST(split("ქართული. ენა") == "ქართული.|ენა");  // letters without capitals
  BOOST_TEST(split("»Was?« Er. „Gut.“ Sie") == "»Was?«|Er.|„Gut.“|Sie");
  BOOST_TEST(split("« Quoi ? » Il. «\u00A0Non.\u00A0» Puis") ==
             "« Quoi ? »|Il.|«\u00A0Non.\u00A0»|Puis");
}

BOOST_AUTO_TEST_CASE(abbreviations_of_other_scripts_do_not_end_a_sentence) {
  for (const char* line :
       {"usw. über uns", "1999 г. и потом", "А. С. Пушкин", "(Å. Berg)", "Am ٣. Oktober", "१. पहला",
        "usw. „über“ uns", "κ. άλλα", "տ. եւ", "Да! — сказал он", "Art.\u00A05", "３．５度"})
    BOOST_TEST(split(line) == line);
}

BOOST_AUTO_TEST_CASE(sure_and_possible_ones) {
  const std::vector<WordLink> links = parse_links(" 0-0 12?3\t4p5 12?3\r");
  const std::vector<WordLink> want{{0, 0, true}, {12, 3, false}, {4, 5, false}, {12, 3, false}};
  BOOST_TEST((links == want));
  BOOST_TEST(parse_links("").empty());
}

BOOST_AUTO_TEST_CASE(anything_else_is_quoted) {
  for (const std::string bad :
       {"0", "0-", "-1", "0-1-2", "0+1", "a-b", "0-1x", "4294967296-0", "-", "0--1"}) {
    const std::string message = tx_test::message_of<DataError>([&] { parse_links("0-0 " + bad); });
    BOOST_TEST(message.starts_with("'" + bad + "' is not a link"), message);
  }
}
