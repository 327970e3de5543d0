#include "lib/convert/families/tokens.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/convert/formats/directory.h"
#include "tests/support.h"

using namespace tx;
using namespace tx_test;

namespace {

constexpr const char* here = "F";
const std::vector<std::string> theirs = {"</s>", "<unk>", "a", "b", "<pad>"};

TokenOrder order() { return {theirs, {4, 1, 4, 0}, here}; }

WeightRows table() {  // row i holds 10 i and 10 i + 1
  return {5, 2, [](int64_t first, int64_t count, float* to) {
            for (int64_t i = first; i < first + count; ++i) {
              *to++ = float(10 * i);
              *to++ = float(10 * i + 1);
            }
          }};
}

std::string golden(const std::string& name) {
  return read_file(std::string(TX_SOURCE_DIR) + "/tests/golden/marian/" + name);
}

MappedTokens content() {
  MappedTokens c;
  c.tokens = {"<pad>",
              "<unk>",
              "<s>",
              "</s>",
              "\xE2\x96\x81"
              "go",
              "\xE2\x96\x81",
              "d",
              ">>x<<"};
  c.tags = true;
  c.model = golden("source.spm");
  return c;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_start_of_its_own_is_a_token_like_others) {
  const std::vector<std::string> llama = {"<unk>", "<s>", "</s>", "<0x00>", "a"};
  const SpecialIds ids{3, 0, 1, 2};
  const TokenOrder o(llama, ids, here, Start::own);
  BOOST_TEST(o.tokens() == (std::vector<std::string>{"<0x00>", "<unk>", "<s>", "</s>", "a"}));
  BOOST_TEST(o.id(1) == Vocabulary::bos);
  BOOST_TEST(o.id(4) == 4);
  MappedTokens c;
  c.tokens = o.tokens();
  c.theirs = {3, 0, 1, 2};
  BOOST_TEST(TokenOrder::of(c, here, Start::own).from(4) == 4);
  BOOST_CHECK_EXCEPTION(
      TokenOrder(llama, {3, 0, 2, 2}, here, Start::own), DataError, [](const DataError& e) {
        return std::string(e.what()) == "F: bos must differ from pad, unk and eos";
      });
}

BOOST_AUTO_TEST_CASE(tokens_of_a_description) {
  TokenizerSpec spec;
  spec.tokens = {"<0xC0>", "<0xC1>", "\u00C0", "<s>", "</s>", "", "a"};
  spec.added = {{.id = 4, .text = "</s>", .special = true}, {.id = 6, .text = "a"}};
  SpecTokens t = tokens_of(spec, 8, {-1, -1, 3, 4}, here);  // two rows have no token
  BOOST_TEST(t.content.tokens == (std::vector<std::string>{"<row-7>", "<row-5>", "<s>", "</s>",
                                                           "<0xC0>", "<0xC1>", "\u00C0", "a"}));
  BOOST_TEST(t.content.theirs == (std::vector<int64_t>{7, 5, 3, 4}));
  BOOST_TEST(t.content.controls.empty());
  spec.tokens[5] = "b";
  t = tokens_of(spec, 7, {-1, -1, 3, 4}, here);
  BOOST_TEST(t.content.theirs == (std::vector<int64_t>{1, 0, 3, 4}));
  spec.splitter = {Json{{"type", "ByteLevel"}, {"add_prefix_space", false}}};
  spec.tokens[1] = "\u00C1";
  t = tokens_of(spec, 7, {-1, -1, 3, 4}, here);  // U+00C0 is a byte
  BOOST_TEST(t.content.theirs == (std::vector<int64_t>{1, 2, 3, 4}));
  const auto refusal = [&](int64_t rows) {
    return message_of<DataError>([&] { tokens_of(spec, rows, {-1, -1, 3, 4}, here); });
  };
  BOOST_TEST(refusal(6) == "F has the token \"a\" with the id 6, but the embedding has 6 rows");
  spec.tokens[2] = "c";
  BOOST_TEST(refusal(7).starts_with("F has no token for padding, unknown text or"));
}

BOOST_AUTO_TEST_CASE(specials_come_first) {
  const TokenOrder o = order();
  BOOST_TEST(o.tokens() == (std::vector<std::string>{"<pad>", "<unk>", "<s>", "</s>", "a", "b"}));
  BOOST_TEST(o.id(4) == Vocabulary::pad);  // not bos, which has a copy of its row
  BOOST_TEST(o.id(2) == 4);
  BOOST_TEST(o.id(5) == -1);
  BOOST_TEST(o.id(-1) == -1);
  const WeightRows rows = o.rows(table());
  BOOST_TEST(rows.rows == 6);
  std::vector<float> values(12);
  rows.read(0, 6, values.data());
  BOOST_TEST(values == (std::vector<float>{40, 41, 10, 11, 40, 41, 0, 1, 20, 21, 30, 31}));
  rows.read(4, 1, values.data());
  BOOST_TEST(values[0] == 20);
}

BOOST_AUTO_TEST_CASE(what_the_decoder_reads_first_is_never_output) {
  const auto bias = [](int64_t, int64_t, float* to) {
    for (int i = 0; i < 5; ++i) to[i] = float(i);
  };
  std::vector<float> values(6);
  order().bias({1, 5, bias}).read(0, 1, values.data());
  BOOST_TEST(values == (std::vector<float>{4, 1, never, 0, 2, 3}));
  order().bias({1, 5, bias}, true).read(0, 1, values.data());  // nor is pad
  BOOST_TEST(values == (std::vector<float>{never, 1, never, 0, 2, 3}));
}

BOOST_AUTO_TEST_CASE(a_token_called_s_stays) {
  const TokenOrder o({"<s>", "<pad>", "</s>", "<unk>"}, {1, 3, 2, 2}, here);
  BOOST_TEST(o.tokens() == (std::vector<std::string>{"<pad>", "<unk>", "<s>_", "</s>", "<s>"}));
}

BOOST_AUTO_TEST_CASE(special_ids_that_are_none) {
  BOOST_TEST(message_of<DataError>([] {
               TokenOrder(theirs, {5, 1, 4, 0}, here);
             }) == "F: the id of pad is 5, but there are 5 tokens");
  BOOST_TEST(message_of<DataError>([] {
               TokenOrder(theirs, {4, 1, 4, 4}, here);
             }) == "F: pad, unk and eos must be three different tokens");
}

BOOST_AUTO_TEST_CASE(numbers_of_tokens_in_a_file) {
  const TempFolder folder;
  const auto read = [&](const std::string& json) { return read_token_ids(folder.file("v", json)); };
  BOOST_TEST(read(R"({"b": 1, "a": 0})") == (std::vector<std::string>{"a", "b"}));
  for (const char* bad : {R"({"a": 0, "b": 0})", R"({"a": 0, "b": 2})", R"({"a": "0"})",
                          R"({"a": -1})", R"({"": 0})"})
    BOOST_TEST(message_of<DataError>([&] { read(bad); }).find("must have an id of its own") !=
               std::string::npos);
  BOOST_TEST(message_of<DataError>([&] { read("{}"); }).find("has no tokens") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(text_and_mapped_tokens) {
  const auto v = parse_vocabulary(mapped_bytes(content()), here);
  BOOST_TEST(v->kind() == "mapped");
  std::vector<int> ids;
  v->encode("go do", ids);
  BOOST_TEST(ids.front() == 4);
  v->encode(">>x<<go", ids);
  BOOST_TEST(ids.front() == 7);
  BOOST_TEST(ids[1] == 4);
  v->encode(">>y<< go", ids);
  BOOST_TEST(ids.front() == 5);  // text: the vocabulary has no such tag
  v->encode("</s>", ids);        // text cannot forge the end
  BOOST_TEST(std::count(ids.begin(), ids.end(), Vocabulary::eos) == 0);
  BOOST_TEST(v->decode(std::vector<int>{2, 4, 5, 6, 1, 5, 3}) == "go d");
  BOOST_TEST(forbidden_tokens(*v) == (std::vector<int>{Vocabulary::pad, Vocabulary::bos}));
}

BOOST_AUTO_TEST_CASE(lists_of_tokens_that_are_unsound) {
  const auto message = [](MappedTokens c) {
    return message_of<DataError>([&] { parse_vocabulary(mapped_bytes(c), here); });
  };
  MappedTokens c = content();
  c.tokens[5] = "d";
  BOOST_TEST(message(c) == "F: the token \"d\" occurs twice");
  c = content();
  c.forbidden = {8};
  BOOST_TEST(message(c) == "F: its list forbidden has an invalid id");
  c = content();
  c.first = 8;
  BOOST_TEST(message(c).find("its first token is not in the list") != std::string::npos);
  c.tokens.resize(3);
  c.first = -1;
  BOOST_TEST(message(c).find("too few tokens") != std::string::npos);
  c = content();
  c.model = "x";
  BOOST_TEST(message(c).starts_with("F"));
  // Numbers that are too large for an int.
  for (const std::string key : {"\"first\":", "\"theirs\":["}) {
    std::string bytes = mapped_bytes(content());
    const size_t at = bytes.find(key) + key.size();
    BOOST_REQUIRE(at < bytes.size());
    bytes.replace(at, bytes.find_first_of(",]", at) - at, "1e64");
    const auto refused = message_of<DataError>([&] { parse_vocabulary(bytes, here); });
    BOOST_TEST(refused.starts_with("F is not a valid token list: " + key.substr(1, 5)), refused);
  }
}
