// The text of a language model's output.
#include "lib/search/engine/continuation.h"

#include <boost/test/unit_test.hpp>

using namespace tx;

namespace {

const std::unique_ptr<Vocabulary> words =
    parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\none\ntwo\nthree\n", "words");

}  // namespace

BOOST_AUTO_TEST_SUITE(search_continuation)

BOOST_AUTO_TEST_CASE(a_continuation_joins_its_prompt) {
  const std::vector<int> prompt{4, 5}, more{6, 4};
  BOOST_TEST(continuation_text(*words, prompt, more) == " three one");
  BOOST_TEST(continuation_text(*words, {}, more) == "three one");
  BOOST_TEST(continuation_text(*words, prompt, {}) == "");
}

BOOST_AUTO_TEST_CASE(the_first_stop_string_ends_a_text) {
  BOOST_TEST(before_stop("a, b. c", {".", ","}) == "a");
  BOOST_TEST(before_stop("a b", {".", ","}) == "a b");
  BOOST_TEST(holds_stop("a. b", {"..", "."}));
  BOOST_TEST(!holds_stop("a. b", {".."}));
}

BOOST_AUTO_TEST_CASE(what_may_still_change_is_held_back) {
  BOOST_TEST(settled("one tw", {"two", "end"}) == "one ");
  BOOST_TEST(settled("one two t", {"two", "end"}) == "one ");
  BOOST_TEST(settled("one e", {"two", "end"}) == "one ");
  BOOST_TEST(settled("one", {}) == "one");
  BOOST_TEST(settled("one", {"x"}) == "one");
  BOOST_TEST(settled("caf\xEF\xBF\xBD", {}) == "caf");
}

BOOST_AUTO_TEST_SUITE_END()
