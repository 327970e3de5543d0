#include "lib/eval/matching/brackets.h"

#include <boost/test/unit_test.hpp>
#include <string>

namespace {

// "S 0-3, NP 0-2 (3 words)", or the error.
std::string read(const std::string& line) {
  tx::BracketReader reader;
  tx::Brackets brackets;
  reader.read(line, brackets);
  if (!brackets.error.empty()) return brackets.error;
  std::string text;
  for (const auto& span : brackets.spans) {
    text += std::string(span.label) + " " + std::to_string(span.begin) + "-" +
            std::to_string(span.end) + " ";
  }
  return text + "(" + std::to_string(brackets.words) + " words)";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(brackets)

BOOST_AUTO_TEST_CASE(both_ways_of_writing_a_tree) {
  BOOST_TEST(read("(S (NP (DT a) (NN cat)) (VP (VBZ sits)))") == "NP 0-2 S 0-3 VP 2-3 (3 words)");
  BOOST_TEST(read("(S (NP XX XX )NP (VP XX )VP )S") == "NP 0-2 S 0-3 VP 2-3 (3 words)");
  BOOST_TEST(read("") == "(0 words)");
}

BOOST_AUTO_TEST_CASE(what_evalb_leaves_out) {
  BOOST_TEST(read("( (S (NP-SBJ-1 (DT a)) (PRT (RP up)) (. .)) )") ==
             "ADVP 1-2 NP 0-1 S 0-2 (2 words)");
  BOOST_TEST(read("(TOP (S (NP (-NONE- *T*)) (VP (VB go)) (, ,)))") == "S 0-1 VP 0-1 (1 words)");
  BOOST_TEST(read("(ROOT (S1 (X (`` ``))))") == "(0 words)");
}

BOOST_AUTO_TEST_CASE(malformed_trees) {
  BOOST_TEST(read("(S (NP a b)") == "\"(S\" is not closed");
  BOOST_TEST(read("(S a b))") == "one closing parenthesis too many");
  BOOST_TEST(read("(S (NP a )VP )S") == "\"(NP\" is closed by \")VP\"");
  BOOST_TEST(read("(S a b) (S c d)") == "text after the end of the tree");
  BOOST_TEST(read("(S a b) c") == "a word outside the parentheses");
}

BOOST_AUTO_TEST_SUITE_END()
