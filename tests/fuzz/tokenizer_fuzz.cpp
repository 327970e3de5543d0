// tokenizer.json, and the description that model files store.
#include "lib/subword/mapped.h"
#include "lib/subword/tokenizer/tokenizer.h"
#include "tests/fuzz/samples.h"

namespace tx_fuzz {

namespace {

constexpr const char* bpe = R"({"added_tokens": [{"id": 6, "content": "<e>", "special": true},
  {"id": 7, "content": "N", "lstrip": true, "single_word": true, "normalized": true}],
  "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "BertNormalizer"}]},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
    {"type": "Split", "pattern": {"Regex": " ?\\p{L}+"}, "behavior": "Isolated", "invert": false},
    {"type": "ByteLevel", "add_prefix_space": true, "use_regex": false}]},
  "post_processor": {"type": "BertProcessing", "sep": ["a", 1], "cls": ["b", 2]},
  "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "unk_token": "?", "vocab":
  {"?": 0, "a": 1, "b": 2, "ab": 3, "c": 4, "bc": 5}, "merges": ["a b", ["b", "c"]]}})";
constexpr const char* unigram = R"({"normalizer": {"type": "Precompiled",
  "precompiled_charsmap": "CAAAAAAAAAAAAAAAYQA="}, "pre_tokenizer": {"type": "Metaspace",
  "replacement": "▁", "prepend_scheme": "first", "split": true}, "decoder": {"type": "Sequence",
  "decoders": [{"type": "ByteFallback"}, {"type": "Strip", "content": " ", "start": 1, "stop": 1}]},
  "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true,
  "vocab": [["<unk>", 0], ["a", -1], ["▁a", -1.5], ["<0xC3>", -9]]}})";
constexpr const char* pieces = R"({"pre_tokenizer": {"type": "BertPreTokenizer"},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "a": 1, "##b": 2}}})";

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all = {bpe, unigram, pieces};
  for (const char* json : {bpe, unigram, pieces})
    all.push_back(tx::tokenizer_bytes(tx::read_tokenizer_json(tx::parse_json(json, "F"), "F")));
  return all;
}

void run(std::string_view bytes) {
  std::unique_ptr<tx::Vocabulary> vocabulary;
  std::vector<int> ids;
  const char* const lines[] = {"", "a b", " abc\u00e9 <e>N", "A\u0301 \u6f22\t."};
  if (bytes.starts_with(tx::tokenizer_magic)) {
    const tx::SpecTokenizer tokenizer(tx::read_tokenizer(bytes, "F"), "F");
    for (const char* line : lines) {
      ids.clear();
      tokenizer.encode(line, ids);
      tokenizer.decode(ids);
    }
    return;
  }
  if (!bytes.starts_with('{')) return;
  vocabulary = tx::parse_vocabulary(std::string(bytes), "F");
  for (const char* line : lines) {
    vocabulary->encode(line, ids);
    vocabulary->decode(ids);
    vocabulary->first_unknown(line);
  }
  for (int id = 0; id < vocabulary->size(); ++id) {
    require(vocabulary->id_of(vocabulary->token(id)) >= 0, "a token has an id");
    vocabulary->token_bytes(id);
  }
}

}  // namespace tx_fuzz
