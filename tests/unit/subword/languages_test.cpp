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
