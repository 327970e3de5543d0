#include "lib/subword/word_groups.h"

#include <boost/test/unit_test.hpp>

#include "tests/unit/subword/subword_samples.h"

using namespace tx;

namespace {

std::unique_ptr<Vocabulary> subwords() { return parse_vocabulary(train(sample_text()), "model"); }

using Words = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_CASE(words_of_a_subword_model) {
  const auto model = subwords();
  std::vector<int> ids = encoded(*model, "the unseen Straßenmachine ☃ is 12.");
  BOOST_TEST(ids.size() > 12u);  // 6 words, two of them in several tokens
  ids.push_back(Vocabulary::eos);
  const WordGroups groups = group_words(*model, ids);
  BOOST_TEST(groups.words == (Words{"the", "unseen", "Straßenmachine", "☃", "is", "12.", "</s>"}),
             boost::test_tools::per_element());
  BOOST_REQUIRE(groups.starts.size() == 8u);
  BOOST_TEST(groups.starts.back() == int64_t(ids.size()));
  BOOST_TEST(groups.starts[6] == int64_t(ids.size()) - 1);
  for (size_t w = 0; w + 1 < groups.size(); ++w) {
    BOOST_TEST(groups.starts[w] < groups.starts[w + 1]);
    BOOST_TEST(model->token(ids[size_t(groups.starts[w])]).starts_with("\u2581"));
  }
}

BOOST_AUTO_TEST_CASE(starts_alone_are_the_same) {
  const auto model = subwords();
  const auto list =
      parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\nun@@\nseen\n@@\ndog\n", "words");
  const WordStarts of_model(*model), of_list(*list);
  for (const char* line :
       {"", "the", "the unseen Straßenmachine ☃ is 12.", " the   dog  ", "  ", "a\u3000dog\t"}) {
    std::vector<int> ids = encoded(*model, line);
    BOOST_TEST(of_model(ids) == group_words(*model, ids).starts, boost::test_tools::per_element());
    ids.insert(ids.begin(), Vocabulary::bos);
    ids.push_back(Vocabulary::eos);
    BOOST_TEST(of_model(ids) == group_words(*model, ids).starts, boost::test_tools::per_element());
  }
  const std::vector<int> ids{2, 4, 5, 7, 1, 6, 7, 4, 3, 4, 4, 5};
  BOOST_TEST(of_list(ids) == group_words(*list, ids).starts, boost::test_tools::per_element());
}

// White space belongs to the word after it; at the end, to the word before.
BOOST_AUTO_TEST_CASE(spaces_in_a_row) {
  const auto model = subwords();
  const std::vector<int> ids = encoded(*model, "the   dog");
  const WordGroups groups = group_words(*model, ids);
  BOOST_TEST(groups.words == (Words{"the", "dog"}), boost::test_tools::per_element());
  for (const char* line :
       {"the dog ", "the dog  ", " the\tdog\r", "the\u3000dog\u00A0", "the\u2028dog"}) {
    std::vector<int> two = encoded(*model, line);
    BOOST_TEST(group_words(*model, two).words == (Words{"the", "dog"}),
               boost::test_tools::per_element());
    two.push_back(Vocabulary::eos);
    BOOST_TEST(group_words(*model, two).words == (Words{"the", "dog", "</s>"}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(words_of_a_list) {
  const auto list =
      parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\nun@@\nseen\n@@\ndog\n", "words");
  // <s> un@@ seen dog <unk> @@ dog un@@ </s>: a token "@@" is a word, and one that joins ends at
  // </s>
  const std::vector<int> ids = {2, 4, 5, 7, 1, 6, 7, 4, 3};
  const WordGroups groups = group_words(*list, ids);
  BOOST_TEST(groups.words == (Words{"<s>", "unseen", "dog", "<unk>", "@@", "dog", "un", "</s>"}),
             boost::test_tools::per_element());
  BOOST_TEST(groups.starts == (std::vector<int64_t>{0, 1, 3, 4, 5, 6, 7, 8, 9}),
             boost::test_tools::per_element());
  BOOST_TEST((group_words(*list, {}) == WordGroups{}));
}

// Every token of a line is in exactly one word.
BOOST_AUTO_TEST_CASE(random_lines_are_covered) {
  const auto model = subwords();
  PhiloxStream random(11, 2);
  for (int i = 0; i < 300; ++i) {
    const std::vector<int> ids = encoded(*model, random_line(random));
    const WordGroups groups = group_words(*model, ids);
    BOOST_REQUIRE(groups.starts.size() == groups.size() + 1);
    BOOST_TEST(groups.starts.front() == 0);
    BOOST_TEST(groups.starts.back() == int64_t(ids.size()));
    for (size_t w = 0; w < groups.size(); ++w) BOOST_TEST(groups.starts[w] < groups.starts[w + 1]);
  }
}
