// Where a line of several sentences comes apart.
#include "lib/text/sentences.h"

#include <boost/test/unit_test.hpp>
#include <string>

using namespace tx;

namespace {

std::string split(std::string_view line) {
  std::string out;
  for (const std::string_view sentence : split_sentences(line))
    out += (out.empty() ? "" : "|") + std::string(sentence);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(sentences_come_apart) {
  BOOST_TEST(split("One. Two! Three? Four") == "One.|Two!|Three?|Four");
  BOOST_TEST(split("One.  Two. ") == "One.|Two. ");
  BOOST_TEST(split("He said \"Go.\" Then he went.") == "He said \"Go.\"|Then he went.");
  BOOST_TEST(split("Really?! Yes... No.") == "Really?!|Yes...|No.");
  BOOST_TEST(split("a dog runs . two cats sleep . ") == "a dog runs .|two cats sleep . ");
  BOOST_TEST(split("Ja. \u00DCber uns.") == "Ja.|\u00DCber uns.");
  BOOST_TEST(split("\u597D\u3002\u662F\u5417\uFF1F\u662F") ==
             "\u597D\u3002|\u662F\u5417\uFF1F|\u662F");
}

BOOST_AUTO_TEST_CASE(and_what_is_no_end_stays) {
  for (const char* line :
       {"", "word", "One. two", "v1.2 is out", "Am 3. Oktober", "J. S. Bach plays", "e.g. this",
        "www.example.org", " . ", "!", "One.", ". one", "er ... geht", "Quoi ! dit-il"})
    BOOST_TEST(split(line) == line);
}
