#include "lib/subword/words.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/unit/subword/subword_samples.h"

using namespace tx;

namespace {

WordCounts counts() {
  std::vector<std::string> lines = {"b a  a\tc\r", "", "c <unk> </s> ü", "a"};
  const auto next = [&, i = size_t(0)](std::string& line) mutable {
    return i < lines.size() && (line = lines[i++], true);
  };
  return count_words(next, 3);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words)

BOOST_AUTO_TEST_CASE(order_is_by_count_then_bytes) {
  BOOST_TEST(train_words(counts()) == "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\na\nc\nb\nü\n");
  BOOST_TEST(train_words(counts(), 6) == "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\na\nc\n");
  BOOST_CHECK_THROW(train_words({}), DataError);
}

BOOST_AUTO_TEST_CASE(encode_and_decode) {
  const auto words = parse_vocabulary(train_words(counts()), "w");
  BOOST_TEST(words->kind() == "words");
  BOOST_TEST(words->size() == 8);
  BOOST_TEST(words->id_of("ü") == 7);
  BOOST_TEST(words->id_of("x") == -1);
  BOOST_TEST(encoded(*words, " a\tb x  </s> <pad> c\r") == (std::vector<int>{4, 6, 1, 1, 1, 5}),
             boost::test_tools::per_element());
  BOOST_TEST(encoded(*words, " \t").empty());
  BOOST_TEST(words->decode(std::vector<int>{2, 4, 1, 6, 3, 0}) == "a <unk> b");
  BOOST_TEST(joined_bytes(*words, {2, 4, 1, 6, 3, 0}) == " a <unk> b");
  BOOST_CHECK_THROW(words->decode(std::vector<int>{8}), DataError);
}

BOOST_AUTO_TEST_CASE(damaged_lists_are_refused_with_the_line) {
  const std::string head = "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n";
  const auto refused = [](const std::string& bytes, const std::string& start) {
    BOOST_CHECK_EXCEPTION(parse_vocabulary(bytes, "w"), DataError, [&](const DataError& error) {
      BOOST_TEST_INFO(error.what());
      return std::string(error.what()).starts_with(start);
    });
  };
  refused(head + "a\nb", "w:7: the last line");
  refused(head + "a\na\n", "w:7: the word a");
  refused(head + "a\n\n", "w:7: a word is empty");
  refused(head + "a b\n", "w:6: a word");
  refused(head + "\xFF\n", "w: the word list is not valid UTF-8");
  refused("tx-words 1\n<pad>\n<unk>\n<s>\n", "w: the word list is truncated");
  refused("tx-words 1\n<unk>\n", "w:2: expected <pad>");
  refused("", "w is empty");
}

BOOST_AUTO_TEST_SUITE_END()
