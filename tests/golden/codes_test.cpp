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
  for (const char* bad : {"(a)", "a*", "[", ""}) {
    BOOST_CHECK_THROW(tx::Glossary(std::vector<std::string>{bad}), tx::UsageError);
  }
  const tx::Glossary words(std::vector<std::string>{"<\\w*>"});
  BOOST_TEST(words.holds("<é>"));
  // Too long for the regular expression: not split, and no deep recursion.
  BOOST_TEST(words.isolate("<" + std::string(100000, 'a') + ">").size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
