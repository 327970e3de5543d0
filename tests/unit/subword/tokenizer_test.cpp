// tokenizer.json: what is read, what is refused, and how model files store it.
#include "lib/subword/tokenizer/tokenizer.h"

#include <boost/test/unit_test.hpp>
#include <functional>

#include "lib/base/error.h"
#include "lib/subword/mapped.h"
#include "lib/subword/tokenizer/expression.h"
#include "lib/subword/tokenizer/word_model.h"
#include "tests/support.h"

using namespace tx;
using namespace tx_test;

namespace {

constexpr const char* here = "F";

Json bpe() {
  return parse_json(R"({"added_tokens": [
    {"id": 7, "content": "<end>", "special": true, "normalized": false},
    {"id": 9, "content": "New", "lstrip": true, "normalized": true}],
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {"type": "BPE", "unk_token": "?", "vocab":
      {"?": 0, "a": 1, "b": 2, "ab": 3, "aba": 4, "c": 5, "bc": 6},
      "merges": ["a b", ["b", "c"], "ab a"]}})",
                    here);
}

std::vector<int> ids_of(const Json& json, std::string_view line) {
  std::vector<int> ids;
  SpecTokenizer(read_tokenizer_json(json, here), here).encode(line, ids);
  return ids;
}

// The message for a file with a change.
std::string refusal(const std::function<void(Json&)>& change) {
  Json json = bpe();
  change(json);
  return message_of<DataError>(
      [&] { const SpecTokenizer t(read_tokenizer_json(json, here), here); });
}

std::vector<std::string> parts(const std::string& expression, const std::string& text) {
  std::vector<std::string> all;
  Expression(expression, false, here).each(text, [&](std::string_view part, bool match) {
    all.push_back((match ? "+" : "-") + std::string(part));
  });
  return all;
}

std::string expression_refusal(const std::string& expression) {
  return message_of<DataError>([&] { const Expression e(expression, false, here); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(merges_are_applied_by_rank_from_left_to_right) {
  BOOST_TEST(ids_of(bpe(), "abc") == (std::vector{3, 5}));     // a b before b c
  BOOST_TEST(ids_of(bpe(), "aba bc") == (std::vector{4, 6}));  // words are split apart
  BOOST_TEST(ids_of(bpe(), "axb") == (std::vector{1, 0, 2}));
  std::string line, twice;
  std::vector<int> wanted;
  for (int i = 0; i < 50; ++i) {  // longer than words are
    line += "abc";
    wanted.insert(wanted.end(), {3, 5});
  }
  BOOST_TEST(ids_of(bpe(), line) == wanted);
  Json json = bpe();
  json["model"]["vocab"]["aa"] = 8u;
  json["model"]["merges"].push_back("a a");
  for (const size_t pairs : {1, 50}) {  // of the same rank, the leftmost
    wanted.assign(pairs, 8);
    wanted.push_back(1);
    BOOST_TEST(ids_of(json, std::string(2 * pairs + 1, 'a')) == wanted);
  }
}

BOOST_AUTO_TEST_CASE(added_tokens_are_found_first) {
  BOOST_TEST(ids_of(bpe(), "ab<end>c") == (std::vector{3, 7, 5}));
  BOOST_TEST(ids_of(bpe(), "a \t Newb") == (std::vector{1, 9, 2}));  // takes the space before it
  Json json = bpe();
  json["normalizer"] = {{"type", "Lowercase"}};
  BOOST_TEST(ids_of(json, "a NEW") == (std::vector{1, 9}));  // is normalised, too
  BOOST_TEST(ids_of(json, "<END>").size() == 5u);
  json["added_tokens"][1]["single_word"] = true;
  BOOST_TEST(ids_of(json, "new anew").size() == 5u);
}

BOOST_AUTO_TEST_CASE(unknown_parts_are_refused_by_name) {
  BOOST_TEST(refusal([](Json&) {}) == "");
  BOOST_TEST(refusal([](Json& j) {
               j["normalizer"] = {{"type", "Odd"}};
             }) == "F: normalizer Odd is not supported");
  BOOST_TEST(refusal([](Json& j) {
               j["pre_tokenizer"] = {{"type", "Sequence"},
                                     {"pretokenizers", {{{"type", "UnicodeScripts"}}}}};
             }) == "F: pre_tokenizer UnicodeScripts is not supported");
  BOOST_TEST(refusal([](Json& j) {
               j["decoder"] = {{"type", "CTC"}};
             }) == "F: decoder CTC is not supported");
  BOOST_TEST(refusal([](Json& j) {
               j["post_processor"] = {{"type", "Odd"}};
             }) == "F: post_processor Odd is not supported");
  BOOST_TEST(refusal([](Json& j) { j["model"]["type"] = "WordLevel"; }) ==
             "F: the model \"WordLevel\" is not supported; BPE, Unigram and WordPiece are");
  BOOST_TEST(refusal([](Json& j) { j["model"]["dropout"] = 0.1; }) ==
             "F: dropout of the model is not supported; use tx's --bpe-dropout");
  BOOST_TEST(refusal([](Json& j) {
               j["pre_tokenizer"] = {{"type", "Punctuation"}, {"behavior", "Odd"}};
             }) == "F: pre_tokenizer Punctuation: behavior \"Odd\" is not supported");
}

BOOST_AUTO_TEST_CASE(malformed_parts_are_refused) {
  BOOST_TEST(refusal([](Json& j) { j["model"]["merges"][0] = "a x"; }) ==
             "F: model: \"x\" of a merge is not a token");
  BOOST_TEST(refusal([](Json& j) { j["model"]["merges"][0] = "a b c"; }) ==
             "F: model: the merge \"a b c\" does not have two tokens");
  BOOST_TEST(refusal([](Json& j) { j["model"]["vocab"]["c"] = 1u; }) ==
             "F: the tokens \"a\" and \"c\" have the same id");
  BOOST_TEST(refusal([](Json& j) {
               j["model"]["vocab"]["c"] = 1000000000u;
             }).starts_with("F: the token \"c\" has the id 1000000000; expected a number up to"));
  BOOST_TEST(refusal([](Json& j) { j["added_tokens"][0]["id"] = 1u; }) ==
             "F: the tokens \"a\" and \"<end>\" have the same id");
  BOOST_TEST(refusal([](Json& j) { j["model"]["unk_token"] = "x"; }) ==
             "F: model: unk_token \"x\" is not a token");
  BOOST_TEST(refusal([](Json& j) {
               j["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", "AAAAB"}};
             }).starts_with("F: precompiled_charsmap"));
  BOOST_TEST(message_of<DataError>([] { parse_vocabulary("{\"a\": 1}", here); }) ==
             "F is neither a subword model nor a tokenizer.json: it has no model");
}

BOOST_AUTO_TEST_CASE(what_is_put_around_a_text) {
  Json json = bpe();
  json["post_processor"] = {{"type", "BertProcessing"}, {"sep", {"b", 2u}}, {"cls", {"a", 1u}}};
  TokenizerSpec spec = read_tokenizer_json(json, here);
  BOOST_TEST(spec.before == std::vector{1});
  BOOST_TEST(spec.after == std::vector{2});
  json["post_processor"] = parse_json(R"({"type": "Sequence", "processors": [
    {"type": "ByteLevel"}, {"type": "TemplateProcessing", "single": [
      {"SpecialToken": {"id": "x"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "y"}}],
      "special_tokens": {"x": {"ids": [5, 6]}, "y": {"ids": [7]}}}]})",
                                      here);
  spec = read_tokenizer_json(json, here);
  BOOST_TEST(spec.before == (std::vector{5, 6}));
  BOOST_TEST(spec.after == std::vector{7});
}

BOOST_AUTO_TEST_CASE(expressions_mean_what_they_mean_in_oniguruma) {
  using Parts = std::vector<std::string>;
  // \s has no U+180E, \w has marks but no other numbers; \u and {,n} exist; sets may hold \s.
  BOOST_TEST(parts(R"(\s+)", "a \u00a0b\u180e") == (Parts{"-a", "+ \u00a0", "-b\u180e"}));
  BOOST_TEST(parts(R"(\w+)", "e\u0301\u00b2") == (Parts{"+e\u0301", "-\u00b2"}));
  BOOST_TEST(parts(R"([^\s\p{L}]{,2}\u0062)", "1a11b") == (Parts{"-1a", "+11b"}));
  BOOST_TEST(parts(R"(\p{N}{1,3}| ?x)", "1234 x") == (Parts{"+123", "+4", "+ x"}));
  BOOST_TEST(parts("(?i:'s)", "'\u017f") == Parts{"+'\u017f"});
  BOOST_TEST(parts("b*", "ab") == (Parts{"-a", "+b"}));  // empty matches split nothing off
  BOOST_TEST(expression_refusal(R"(\h)") == "F: \\h in the expression \"\\\\h\" is not supported");
  BOOST_TEST(expression_refusal(R"([^\W])").starts_with("F: \\W in the expression"));
  BOOST_TEST(expression_refusal("[a[b]]").starts_with("F: a set in a set in the expression"));
  BOOST_TEST(expression_refusal("[a&&b]").starts_with("F: && in the expression"));
  BOOST_TEST(expression_refusal("a{1,2}+").starts_with("F: + behind a quantifier in braces"));
  BOOST_TEST(expression_refusal("(").starts_with("F: the expression \"(\" is not supported:"));
}

BOOST_AUTO_TEST_CASE(bytes_have_characters) {
  BOOST_TEST(uint32_t(character_of_byte(0)) == 0x100u);
  BOOST_TEST(uint32_t(character_of_byte(' ')) == 0x120u);  // Ġ
  BOOST_TEST(uint32_t(character_of_byte('a')) == uint32_t('a'));
  BOOST_TEST(uint32_t(character_of_byte(0xAD)) == 0x143u);
  std::string bytes;
  BOOST_TEST(bytes_of_token("Ġé", bytes));
  BOOST_TEST(bytes == " \xE9");
  BOOST_TEST(!bytes_of_token("漢", bytes));
}

BOOST_AUTO_TEST_CASE(a_stored_tokenizer_is_checked) {
  const std::string bytes = tokenizer_bytes(read_tokenizer_json(bpe(), here));
  BOOST_TEST(tokenizer_bytes(read_tokenizer(bytes, here)) == bytes);
  for (size_t size = 0; size < bytes.size(); ++size)
    BOOST_CHECK_THROW(read_tokenizer(bytes.substr(0, size), here), DataError);
  BOOST_CHECK_THROW(read_tokenizer(bytes + "x", here), DataError);
  std::string huge = bytes;
  huge.replace(huge.find("\"tokens\":10"), 11, "\"tokens\":1" + std::string(15, '0'));
  BOOST_TEST(message_of<DataError>([&] { read_tokenizer(huge, here); }) ==
             "F is not a valid tokenizer: it is truncated");
  std::string wrong = bytes;
  wrong[wrong.size() - 1] = 1;  // the highest byte of a merge's id
  BOOST_CHECK_THROW(read_tokenizer(wrong, here), DataError);
}

BOOST_AUTO_TEST_CASE(a_file_alone_is_a_vocabulary) {
  const auto v = parse_vocabulary(to_text(bpe()), here);
  BOOST_TEST(v->kind() == "mapped");
  // ? is unk; the file has no pad, bos and eos; the other tokens keep their order.
  const std::vector<std::string> wanted = {"<pad>", "?",   "<s>", "</s>", "a",     "b",
                                           "ab",    "aba", "c",   "bc",   "<end>", "New"};
  BOOST_REQUIRE(v->size() == int(wanted.size()));
  for (int id = 0; id < v->size(); ++id) BOOST_TEST(v->token(id) == wanted[size_t(id)]);
  std::vector<int> ids;
  v->encode("ab x<end>", ids);
  BOOST_TEST(ids == (std::vector{6, 1, 10}));
  BOOST_TEST(v->first_unknown("ab axb") == "axb");
  BOOST_TEST(v->first_unknown("ab") == "");
  BOOST_TEST(v->decode(ids) == "ab ?");  // <end> is special
  BOOST_TEST(v->token_bytes(10) == "");
  BOOST_TEST(!has_subword_model(*v));
  // What a model file stores.
  const auto again = parse_vocabulary(v->bytes(), here);
  std::vector<int> same;
  again->encode("ab x<end>", same);
  BOOST_TEST(same == ids);
}
