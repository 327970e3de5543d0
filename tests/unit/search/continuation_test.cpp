// The text of a language model's output.
#include "lib/search/engine/continuation.h"

#include <boost/test/unit_test.hpp>

#include "tests/unit/subword/subword_samples.h"

using namespace tx;

namespace {

const std::unique_ptr<Vocabulary> words =
    parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\none\ntwo\nthree\n", "words");

}  // namespace

BOOST_AUTO_TEST_SUITE(search_continuation)

BOOST_AUTO_TEST_CASE(a_continuation_joins_its_prompt) {
  const std::vector<int> prompt{4, 5}, more{6, 4};
  BOOST_TEST(continuation_text(*words, prompt, more, 0) == " three one");
  BOOST_TEST(continuation_text(*words, {}, more, 0) == "three one");
  BOOST_TEST(continuation_text(*words, prompt, {}, 0) == "");
}

// Where the search replaced the end of the prompt, or a space follows it.
BOOST_AUTO_TEST_CASE(a_continuation_does_not_repeat_its_prompt) {
  const std::vector<int> prompt{4, 5}, more{6, 4};
  BOOST_TEST(continuation_text(*words, prompt, more, 1) == "three one");
  BOOST_TEST(continuation_text(*words, prompt, more, 4) == "ee one");
  BOOST_TEST(continuation_text(*words, {}, more, 4) == "ee one");
  BOOST_TEST(continuation_text(*words, prompt, {}, 4) == "");
}

// The model's own text: line feeds and all spaces.
BOOST_AUTO_TEST_CASE(line_feeds_and_spaces_are_kept) {
  const auto model = parse_vocabulary(train(sample_text()), "model");
  const std::vector<int> prompt = encoded(*model, " the dog");
  std::vector<int> more = encoded(*model, "a  b ");
  more.push_back(model->id_of("<0x0A>"));
  BOOST_TEST(continuation_text(*model, prompt, more, 0) == " a  b \n");
  BOOST_TEST(continuation_text(*model, {}, more, 0) == "a  b \n");
  BOOST_TEST(holds_stop(continuation_text(*model, prompt, more, 0), {"\n"}));
  BOOST_TEST(one_line("a\nb\n") == "a b ");
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
