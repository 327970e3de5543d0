// Tokens that stand for spans: added to vocabularies, and the spaces in front of them.
#include "lib/subword/sentinels.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/subword/sample.h"
#include "lib/subword/subword.h"
#include "tests/unit/subword/subword_samples.h"

using namespace tx;

namespace {

Vocabularies::Pointer subwords() {
  SubwordTraining options;
  options.vocab_size = 400;
  return parse_vocabulary(train_subword(count_words(source_of(sample_text()), 1), options), "bpe");
}

std::vector<int> encoded(const Vocabulary& vocabulary, const std::string& line) {
  std::vector<int> ids;
  vocabulary.encode(line, ids);
  return ids;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sentinels)

BOOST_AUTO_TEST_CASE(they_stand_behind_the_tokens) {
  const Vocabularies::Pointer words =
      parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\none\ntwo\n", "words");
  for (const auto& before : {subwords(), words}) {
    BOOST_TEST(sentinels_of(*before).empty());
    const Vocabularies::Pointer after = with_sentinels(before);
    BOOST_TEST(after->size() == before->size() + added_sentinels);
    const std::vector<int> ids = sentinels_of(*after);
    BOOST_TEST(ids.size() == size_t(added_sentinels));
    BOOST_TEST(ids.front() == before->size());
    BOOST_TEST(after->token(ids.back()) == "<extra_id_99>");
    BOOST_TEST(with_sentinels(after) == after);
    BOOST_TEST(after->kind() == before->kind());
    for (const std::string line : {"one two", "two one, two"})
      BOOST_TEST(encoded(*after, line) == encoded(*before, line), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_space_in_front_belongs_to_them) {
  const Vocabularies::Pointer v = with_sentinels(subwords());
  const int first = sentinels_of(*v)[0], second = sentinels_of(*v)[1];
  const std::vector<int> plain = encoded(*v, "the the the");
  BOOST_TEST(plain.size() == 3u);
  const std::vector<int> held = encoded(*v, "the <extra_id_0> the <extra_id_1>");
  BOOST_TEST(held == (std::vector<int>{plain[0], first, plain[2], second}),
             boost::test_tools::per_element());
  BOOST_TEST(encoded(*v, "<extra_id_0> the")[0] == first);
  for (const std::string line :
       {"the <extra_id_0> the <extra_id_1>", "<extra_id_0> the", "<extra_id_0>", " the"})
    BOOST_TEST(v->decode(encoded(*v, line)) == line);
}

BOOST_AUTO_TEST_SUITE_END()
