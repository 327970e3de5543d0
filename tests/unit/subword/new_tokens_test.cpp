// Tokens and languages that are added to a vocabulary: found in text in every kind of vocabulary,
// while other text keeps its tokens.
#include <boost/test/unit_test.hpp>

#include "lib/base/io.h"
#include "lib/subword/languages.h"
#include "tests/support.h"
#include "tests/unit/subword/subword_samples.h"

using namespace tx;
using namespace tx_test;

namespace {

using Ids = std::vector<int>;

std::string golden(const std::string& name) {
  return read_file(std::string(TX_SOURCE_DIR) + "/tests/golden/" + name);
}

MappedTokens pieces() {
  MappedTokens c;
  c.tokens = {"<pad>",  "<unk>",  "<s>_",   "</s>",   "\u2581go",
              "__de__", "__fr__", "\u2581", ">>fra<<"};
  c.model = golden("marian/source.spm");
  return c;
}

Vocabularies::Pointer parsed(const std::string& bytes) { return parse_vocabulary(bytes, "F"); }

// Each new token is one token of a text, the longest first; `line` has the tokens it had before.
void check_found(const Vocabularies::Pointer& before, const std::string& line) {
  BOOST_TEST_CONTEXT(before->kind() << " of " << before->size()) {
    const Vocabularies::Pointer after = with_tokens(before, {"<2nl>", "qx", "qxz"});
    const int first = before->size();
    BOOST_TEST(after->size() == first + 3);
    BOOST_TEST(after->kind() == before->kind());
    for (const auto& [text, id] : {std::pair{"<2nl>", 0}, {"qx", 1}, {"qxz", 2}}) {
      const Ids ids = encoded(*after, line + " " + text + " " + line);
      BOOST_TEST(std::ranges::count(ids, first + id) == 1);
      BOOST_TEST(std::ranges::count_if(ids, [&](int i) { return i >= first; }) == 1);
      BOOST_TEST(after->token(first + id) == text);
      BOOST_TEST(after->decode(Ids{first + id}) == text);
      BOOST_TEST(after->first_unknown(text).empty());
    }
    BOOST_TEST(encoded(*after, line) == encoded(*before, line));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_kind_of_vocabulary_finds_added_tokens) {
  const std::string text = train(sample_text(), 400, 2, {"<2fr>"});
  check_found(parsed(text), "the Straße is near <2fr> 15");
  check_found(with_sentinels(parsed(text)), "the <extra_id_1> dog");
  check_found(parsed("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\ndog\n"), "dog cat");
  check_found(parsed(mapped_bytes(pieces())), "go");
  for (const char* name : {"bart", "bert", "llama", "mbart", "nllb", "qwen3", "roberta"})
    check_found(parsed(golden(std::string(name) + "/tokenizer.json")), "the sun");
}

BOOST_AUTO_TEST_CASE(added_subwords_are_found_inside_words) {
  const Vocabularies::Pointer v = with_tokens(parsed(train(sample_text())), {"nnin"});
  const Ids ids = encoded(*v, "running");
  BOOST_TEST(std::ranges::count(ids, v->size() - 1) == 1);
  BOOST_TEST(v->decode(ids) == "running");
  BOOST_TEST(v->has_merges());
}

BOOST_AUTO_TEST_CASE(a_new_language_takes_the_place_of_the_one_that_is_set) {
  MappedTokens c = pieces();
  c.controls = c.forbidden = c.languages = {5, 6};
  const Vocabularies::Pointer all = parsed(mapped_bytes(c));
  const Vocabularies set = with_languages({{all, all}}, {"de", "fr"}, "F");
  const auto source = with_language(set.pointer(0), "__nl__", "__de__");
  const auto target = with_language(set.pointer(1), "__nl__", "__de__");
  BOOST_TEST(encoded(*source, "go") == (Ids{9, 4}));
  BOOST_TEST(std::ranges::count(encoded(*source, "go __nl__"), 9) == 1);
  BOOST_TEST(source_language(*source) == "nl");
  BOOST_TEST(target_language(*target) == "fr");
  BOOST_TEST(language_names(*target) == (std::vector<std::string>{"de", "fr", "nl"}));
  BOOST_TEST(target->decode(Ids{9, 4}) == "go");
  BOOST_TEST(target->mapped()->forbidden.back() == 9);
  BOOST_TEST(target_language(*with_language(set.pointer(1), "__nl__", "__fr__")) == "nl");
}

BOOST_AUTO_TEST_CASE(a_new_tag_is_found_where_tags_are) {
  MappedTokens c = pieces();
  c.tags = true;
  const auto v = with_language(parsed(mapped_bytes(c)), ">>nld<<", ">>fra<<");
  BOOST_TEST(encoded(*v, ">>nld<< go") == (Ids{9, 4}));
  BOOST_TEST(std::ranges::count(encoded(*v, "go >>nld<<"), 9) == 0);
  const auto subwords =
      with_language(parsed(train(sample_text(), 400, 2, {"<2fr>"})), "<2nl>", "<2fr>");
  BOOST_TEST(skip_tags(*subwords, "<2nl> the dog") == 6u);
}
