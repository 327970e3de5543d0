// Tokenizers against Hugging Face's package: tokenizers.json is made by make_tokenizers.py.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/utf8.h"
#include "lib/subword/tokenizer/tokenizer.h"
#include "lib/subword/vocabulary.h"

using namespace tx;

namespace {

struct Fixture {
  Json golden =
      parse_json(read_file(TX_SOURCE_DIR "/tests/golden/tokenizers.json"), "tokenizers.json");
  std::vector<std::string> lines = golden["lines"].get<std::vector<std::string>>();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tokenizers, Fixture)

BOOST_AUTO_TEST_CASE(ids_and_texts_are_those_of_the_package) {
  size_t cases = 0;
  for (const Json& c : golden["cases"]) {
    const auto name = c["name"].get<std::string>();
    // What a model file stores is the same tokenizer.
    const TokenizerSpec spec = read_tokenizer_json(c["file"], name);
    for (const auto& stored : {spec, read_tokenizer(tokenizer_bytes(spec), name)}) {
      const SpecTokenizer tokenizer(stored, name);
      for (size_t i = 0; i < lines.size(); ++i) {
        BOOST_TEST_CONTEXT(name << ": " << lines[i]) {
          std::vector<int> ids;
          tokenizer.encode(lines[i], ids);
          BOOST_TEST(ids == c["ids"][i].get<std::vector<int>>());
          std::string text = tokenizer.decode(c["ids"][i].get<std::vector<int>>());
          repair_utf8(text);
          BOOST_TEST(text == c["texts"][i].get<std::string>());
        }
      }
    }
    ++cases;
  }
  BOOST_TEST(cases == 15u);
}

// The vocabulary of the file alone: the same tokens, with pad, unk, bos and eos first.
BOOST_AUTO_TEST_CASE(a_vocabulary_has_the_same_tokens) {
  for (const Json& c : golden["cases"]) {
    const auto name = c["name"].get<std::string>();
    const TokenizerSpec spec = read_tokenizer_json(c["file"], name);
    const auto vocabulary = parse_vocabulary(to_text(c["file"]), name);
    for (size_t i = 0; i < lines.size(); ++i) {
      BOOST_TEST_CONTEXT(name << ": " << lines[i]) {
        std::vector<std::string> wanted;
        for (const int id : c["ids"][i].get<std::vector<int>>())
          wanted.push_back(spec.tokens[size_t(id)]);
        std::vector<int> ids;
        vocabulary->encode(lines[i], ids);
        BOOST_TEST(vocabulary->tokens(ids) == wanted);
        if (std::ranges::count(ids, int(Vocabulary::pad)) > 0) continue;
        if (std::ranges::count(ids, int(Vocabulary::eos)) > 0) continue;
        if (std::ranges::count(ids, int(Vocabulary::bos)) > 0) continue;
        std::string text = c["texts"][i];
        std::ranges::replace(text, '\n', ' ');
        BOOST_TEST(vocabulary->decode(ids) == text);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
