// The end of a prefix as text: where its last word begins, and which tokens may continue it.
#include "lib/search/lines/open_end.h"

#include <boost/test/unit_test.hpp>
#include <cctype>

#include "lib/base/io.h"
#include "lib/search/rules/rules.h"
#include "lib/subword/mapped.h"
#include "tests/support.h"
#include "tests/unit/search/tiny_translator.h"
#include "tests/unit/subword/subword_samples.h"

using namespace tx;
using namespace tx_test;

namespace {

Source opened(const std::string& text, const Vocabulary& vocabulary) {
  Source source;
  vocabulary.encode(text.substr(0, text.find_last_not_of(" \r") + 1), source.prefix);
  open_prefix(text, TokenTexts(vocabulary), source);
  return source;
}

std::vector<std::string> choices(const std::string& text, const Vocabulary& vocabulary) {
  std::vector<int> ids;
  TokenTexts(vocabulary).choices(text, ids);
  BOOST_TEST(std::ranges::is_sorted(ids));
  return vocabulary.tokens(ids);
}

using Texts = std::vector<std::string>;
const boost::test_tools::per_element each;

}  // namespace

BOOST_AUTO_TEST_SUITE(open_end)

BOOST_AUTO_TEST_CASE(the_last_word_is_open) {
  const auto v = parse_vocabulary(train(sample_text()), "v");
  const auto is = [&](const std::string& text, const std::string& words, const std::string& rest) {
    const Source s = opened(text, *v);
    BOOST_TEST_INFO(text);
    BOOST_TEST(v->decode(s.prefix) == words);
    BOOST_TEST(s.rest == rest);
    BOOST_TEST(int64_t(s.prefix.size()) + s.rest_tokens ==
               int64_t(encoded(*v, text.substr(0, text.find_last_not_of(" \r") + 1)).size()));
  };
  is("the house is ne", "the house is", " ne");
  is("the house is near", "the house is", " near");
  is("the house is near ", "the house is near", " ");
  is("the house is near \r", "the house is near", " ");
  is("the house is near\r", "the house is", " near");
  is("the", "", " the");
  is("the  Stra", "the", "  Stra");
  is("the \u00fc\u4e2d", "the", " \u00fc\u4e2d");
  std::string text = "the ";
  for (int i = 0; i < 40; ++i) text += "\u4e2d";
  const Source s = opened(text, *v);
  BOOST_TEST(joined_bytes(*v, s.prefix) + s.rest == " " + text);
  BOOST_TEST((s.rest.size() >= 64 && s.rest.size() < 70));
  BOOST_TEST(s.rest.starts_with("\u4e2d"));
}

// The tokens that agree, compared with a search through all.
BOOST_AUTO_TEST_CASE(tokens_that_agree_may_follow) {
  const auto v = parse_vocabulary(train(sample_text()), "v");
  const std::string text = " Stra\u00dfe is running";
  for (size_t begin = 0; begin < text.size(); ++begin)
    for (size_t end = begin + 1; end <= text.size(); ++end) {
      const std::string part = text.substr(begin, end - begin);
      Texts expected;
      for (int id = 0; id < v->size(); ++id) {
        const std::string bytes = v->token_bytes(id);
        if (!bytes.empty() && (bytes.starts_with(part) || part.starts_with(bytes)))
          expected.push_back(v->token(id));
      }
      BOOST_TEST(choices(part, *v) == expected, each);
    }
}

BOOST_AUTO_TEST_CASE(tokens_that_lead_nowhere_may_not) {
  MappedTokens c;
  c.tokens = {"<pad>", "<unk>", "<s>", "</s>", "\u2581go", "\u2581g", "oa", "\u2581goats", "go"};
  c.model = read_file(std::string(TX_SOURCE_DIR) + "/tests/golden/marian/source.spm");
  const auto v = parse_vocabulary(mapped_bytes(c), "v");
  BOOST_TEST(choices(" goa", *v) == (Texts{"\u2581g", "\u2581goats"}), each);
  BOOST_TEST(choices(" goat", *v) == (Texts{"\u2581goats"}), each);
  BOOST_TEST(choices(" g", *v) == (Texts{"\u2581go", "\u2581g", "\u2581goats"}), each);
  BOOST_TEST(choices(" goatsk", *v).empty());
}

BOOST_AUTO_TEST_CASE(words_of_a_list_begin_with_the_text) {
  const auto v = word_vocabulary(120);
  BOOST_TEST(choices(" w10", *v) == (Texts{"w10", "w100", "w101", "w102", "w103", "w104", "w105",
                                           "w106", "w107", "w108", "w109"}),
             each);
  Source s = opened("w5 w", *v);  // not a word of the list
  BOOST_TEST(s.prefix == std::vector<int>{5}, each);
  BOOST_TEST(s.rest == " w");
  s = opened("w5 x", *v);  // no word begins so
  BOOST_TEST(s.prefix == (std::vector<int>{5, Vocabulary::unk}), each);
  BOOST_TEST(s.rest.empty());
}

BOOST_AUTO_TEST_CASE(a_word_that_ends_is_not_continued) {
  const auto v = parse_vocabulary(train(sample_text()), "v");
  const CompletePrefix rule(*v);
  Source s = opened("the house", *v);
  const std::vector<int> all = encoded(*v, "the house");
  const std::vector<int> longer = encoded(*v, "the house is");
  int refused = 0;
  for (int id = 0; id < v->size(); ++id) {
    const std::string bytes = v->token_bytes(id);
    BOOST_TEST(rule.allows({all, 9, &s}, id));
    s.ends_word = true;
    const bool ends = id == Vocabulary::eos || bytes.starts_with(' ') || bytes.starts_with('.');
    if (ends) BOOST_TEST(rule.allows({all, 9, &s}, id), bytes);
    if (!bytes.empty() && std::isalpha(bytes[0])) {
      BOOST_TEST(!rule.allows({all, 9, &s}, id), bytes);
      ++refused;
    }
    BOOST_TEST(rule.allows({longer, 9, &s}, id));
    if (bytes.starts_with(" house"))
      BOOST_TEST(rule.allows({s.prefix, 9, &s}, id) == (bytes == " house"), bytes);
    s.ends_word = false;
  }
  BOOST_TEST(refused > 20);
}

BOOST_AUTO_TEST_SUITE_END()
