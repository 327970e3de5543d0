#include "lib/subword/languages.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "tests/support.h"
#include "tests/unit/subword/subword_samples.h"

using namespace tx;
using namespace tx_test;

namespace {

MappedTokens content() {
  MappedTokens c;
  c.tokens = {"<pad>", "<unk>", "<s>_", "</s>", "\u2581go", "__de__", "__fr__"};
  c.controls = c.forbidden = c.languages = {5, 6};
  c.model = read_file(std::string(TX_SOURCE_DIR) + "/tests/golden/marian/source.spm");
  return c;
}

Vocabularies both(const MappedTokens& c) {
  return {{parse_vocabulary(mapped_bytes(c), "F"), parse_vocabulary(mapped_bytes(c), "F")}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_source_begins_with_its_language) {
  const Vocabularies set = with_languages(both(content()), {"de", "__fr__"}, "F");
  BOOST_TEST(encoded(set.source(), "go") == (std::vector<int>{5, 4}));
  BOOST_TEST(encoded(set.source(), "").empty());
  BOOST_TEST(encoded(set.target(), "go") == std::vector<int>{4});
  BOOST_TEST(first_token(set.target()) == 6);
  BOOST_TEST(closing_tokens(set.source()) == std::vector<int>{Vocabulary::eos});
  BOOST_TEST(source_language(set.source()) == "de");
  BOOST_TEST(target_language(set.target()) == "fr");
  BOOST_TEST(set.target().decode(std::vector<int>{6, 4}) == "go");
  BOOST_TEST(joined_bytes(set.target(), {6, 4}) == " go");
  check_trainable(set, "F");
}

BOOST_AUTO_TEST_CASE(a_source_may_end_with_its_language) {
  MappedTokens c = content();
  c.language_last = true;
  const Vocabularies set = with_languages(both(c), {"de", "fr"}, "F");
  BOOST_TEST(encoded(set.source(), "go") == std::vector<int>{4});
  BOOST_TEST(closing_tokens(set.source()) == (std::vector<int>{Vocabulary::eos, 5}));
  BOOST_TEST(source_language(set.source()) == "de");
  BOOST_CHECK_THROW(check_trainable(set, "F"), UsageError);
}

BOOST_AUTO_TEST_CASE(languages_must_be_known) {
  const Vocabularies all = both(content());
  BOOST_TEST(language_names(all.source()) == (std::vector<std::string>{"de", "fr"}));
  BOOST_CHECK_THROW(with_languages(all, {"de", ""}, "F"), UsageError);
  BOOST_CHECK_THROW(with_languages(all, {"", "de"}, "F"), UsageError);
  BOOST_CHECK_THROW(with_languages(all, {"de", "en"}, "F"), UsageError);
  BOOST_CHECK_THROW(check_trainable(all, "F"), UsageError);
  BOOST_CHECK_THROW(refuse_languages(all, "this", "F"), DataError);
  MappedTokens none = content();
  none.languages.clear();
  with_languages(both(none), {}, "F");
  refuse_languages(both(none), "this", "F");
  BOOST_CHECK_THROW(with_languages(both(none), {"de", ""}, "F"), UsageError);
}

// As in models of OPUS-MT: a line may begin with one of the model's tags; other text stays text.
BOOST_AUTO_TEST_CASE(tags_of_a_model) {
  MappedTokens c = content();
  c.tokens = {"<pad>",   "<unk>",   "<s>_",   "</s>", "\u2581go",
              ">>fra<<", ">>deu<<", "\u2581", ">",    "<"};
  c.controls = c.languages = c.forbidden = {};
  c.tags = true;
  const auto vocabulary = parse_vocabulary(mapped_bytes(c), "F");
  BOOST_TEST(encoded(*vocabulary, ">>fra<< go") == (std::vector<int>{5, 4}));
  BOOST_TEST(vocabulary->first_unknown(">>fra<< go").empty());
  const std::vector<int> text = encoded(*vocabulary, ">>go go<< go");
  BOOST_TEST(text.size() > 3u);
  BOOST_TEST(text.back() == 4);
  BOOST_TEST(text.front() != Vocabulary::unk);
  BOOST_TEST(vocabulary->first_unknown(">>spa<< go") == ">>spa<<");
  BOOST_TEST(!vocabulary->first_unknown(">>fra<< dog").empty());
  BOOST_TEST(skip_tags(*vocabulary, ">>fra<< go") == 8u);
  BOOST_TEST(skip_tags(*vocabulary, ">>fra<<go") == 7u);
  BOOST_TEST(skip_tags(*vocabulary, ">>spa<< go") == 0u);
  BOOST_TEST(describe_unknown(">>spa<<", *vocabulary) ==
             "'>>spa<<' is not a language tag of the model, which has >>fra<< and >>deu<<");
  for (int i = 0; i < 12; ++i) c.tokens.push_back(">>x" + std::to_string(i) + "<<");
  BOOST_TEST(describe_unknown(">>spa<<", *parse_vocabulary(mapped_bytes(c), "F"))
                 .ends_with(" and 4 more"));
}

BOOST_AUTO_TEST_CASE(tags_are_tokens_of_any_vocabulary) {
  const auto model =
      parse_vocabulary(train(sample_text(), 400, 2, {"<2fr>", "__de__", ">>es<<"}), "model");
  for (const char* line : {"<2fr> the dog", "__de__ the dog", ">>es<< <2fr>  the dog"})
    BOOST_TEST(std::string_view(line).substr(skip_tags(*model, line)) == "the dog");
  for (const char* line : {"the dog", "<2fr>the dog", "<b> the dog", "__en__ the dog", ""})
    BOOST_TEST(skip_tags(*model, line) == 0u);
}

BOOST_AUTO_TEST_CASE(text_without_a_token) {
  const auto list = parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\ndog\n", "words");
  BOOST_TEST(list->first_unknown("dog <unk> dog").empty());  // itself
  BOOST_TEST(list->first_unknown("dog cat <s>") == "cat");
  BOOST_TEST(list->first_unknown("dog </s>") == "</s>");
  BOOST_TEST(parse_vocabulary(train(sample_text()), "model")->first_unknown("Ω 😀").empty());
  BOOST_TEST(parse_vocabulary(mapped_bytes(content()), "F")->first_unknown("go goΩ") == "Ω");
}
