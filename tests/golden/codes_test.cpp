// Codes against subword-nmt: codes.json is made by make_codes.py.
#include "lib/subword/subword_nmt/codes.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "tests/support.h"

using tx::Json;

namespace {

struct Fixture {
  tx_test::TempFolder folder;
  Json golden = tx::parse_json(tx::read_file(TX_SOURCE_DIR "/tests/golden/codes.json"), "codes");

  std::string write(const std::string& name, const Json& content) {
    return folder.file(name, content.get<std::string>());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(golden_codes, Fixture)

BOOST_AUTO_TEST_CASE(equal_subword_nmt) {
  int compared = 0;
  for (const Json& expected : golden["cases"]) {
    tx::CodesOptions options;
    options.merges = expected["merges"];
    options.separator = expected["separator"];
    options.glossaries = expected["glossaries"].get<std::vector<std::string>>();
    if (!expected["threshold"].is_null()) {
      options.vocabulary = write("vocabulary", golden["vocabulary"]);
      options.threshold = expected["threshold"].get<int>();
    }
    const std::string version = expected["codes"];
    const tx::Codes codes(write("codes", golden["codes"][version]), options);
    for (const Json& line : expected["lines"]) {
      tx::LineCounts counts;
      BOOST_TEST(codes.apply(line[0].get<std::string>(), nullptr, counts) ==
                 line[1].get<std::string>());
      ++compared;
    }
  }
  BOOST_TEST(compared >= 200);
}

// With dropout 0 the usual subwords, with dropout 1 characters.
BOOST_AUTO_TEST_CASE(dropout_of_none_and_of_all) {
  const tx::Codes codes(write("codes", golden["codes"]["0.2"]), {});
  tx::LineCounts counts;
  tx::MergeDraws none({0, 1}, 1), all({1, 1}, 1);
  const std::string line = "slow readers";
  BOOST_TEST(codes.apply(line, &none, counts) == codes.apply(line, nullptr, counts));
  counts = {};
  BOOST_TEST(codes.apply(line, &all, counts) == "s@@ l@@ o@@ w r@@ e@@ a@@ d@@ e@@ r@@ s");
  BOOST_TEST(counts.words == 2);
  BOOST_TEST(counts.tokens == 11);
}

BOOST_AUTO_TEST_CASE(a_million_characters_take_no_square_of_the_time) {
  const tx::Codes codes(write("codes", golden["codes"]["0.2"]), {});
  std::string word;
  for (int i = 0; i < 100000; ++i) word += "slowreader";
  tx::LineCounts counts;
  const std::string cut = codes.apply(word, nullptr, counts);
  BOOST_TEST(counts.tokens > 100000);
  BOOST_TEST((tx::join_separated(cut, "@@") == word));
}

BOOST_AUTO_TEST_CASE(tokens_are_joined) {
  BOOST_TEST(tx::join_separated("a@@ b c@@ d@@ e", "@@") == "ab cde");
  BOOST_TEST(tx::join_separated("a@@@ b@@", "@@") == "a@b");
  BOOST_TEST(tx::join_separated("a@@", "@@") == "a");
  BOOST_TEST(tx::join_separated("@@ ", "@@") == "");
  BOOST_TEST(tx::join_separated("", "@@") == "");
}

BOOST_AUTO_TEST_CASE(glossaries_are_checked) {
  for (const char* bad :
       {"(a)", "[", "", "a)", "(?:a", "a**", "[b-a]", "[a-\\d]", "\\q", "\\p{L}", "(?i)a", "(?x:a)",
        "(?P<n>a)", "\\1", "\\N{DIGIT ONE}", "\\x1", "(*UTF)a", "a{99999}"}) {
    BOOST_TEST_CONTEXT(bad)
    BOOST_CHECK_THROW(tx::Glossary(std::vector<std::string>{bad}), tx::UsageError);
  }
  const tx::Glossary words(std::vector<std::string>{"<\\w*>"});
  BOOST_TEST(words.holds("<é>"));
  const std::string tag = "<" + std::string(100000, 'a') + ">";
  BOOST_TEST((words.isolate("x" + tag) == std::vector<std::string>{"x", tag}));
  const tx::Glossary empty(std::vector<std::string>{"a*"});
  BOOST_TEST((empty.isolate("xaay") == std::vector<std::string>{"x", "aa", "y"}));
}

// Without a limit, this takes 2^60 steps.
BOOST_AUTO_TEST_CASE(glossaries_that_backtrack_too_often_are_errors) {
  const tx::Glossary glossary(std::vector<std::string>{"(?:a+)+[cd]"});
  BOOST_TEST(glossary.holds(std::string(60, 'a') + "d"));
  BOOST_CHECK_THROW(glossary.isolate(std::string(60, 'a') + "b"), tx::DataError);
}

BOOST_AUTO_TEST_SUITE_END()
