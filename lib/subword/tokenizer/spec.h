// The description of a tokenizer as in the file tokenizer.json of Hugging Face's tokenizers: what
// happens to a text before it is split, how it is split into words, and the model that splits words
// into tokens. Another reader, such as that of GGUF, can fill the struct itself.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/json.h"

namespace tx {

// A token that is found in the text before anything else happens to it.
struct AddedToken {
  int id = 0;
  std::string text;
  bool single_word = false;  // only between characters that are not of a word
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space behind it
  bool normalized = false;   // is found, normalised, in the normalised text
  bool special = false;      // has no text when ids are decoded
  bool in_model = false;     // is also a token of the model
};

struct TokenizerSpec {
  enum class Model { bpe, unigram, wordpiece };
  struct Merge {
    int left, right, result;  // ids
  };

  // Steps as tokenizer.json writes them, such as {"type": "NFC"} or {"type": "Split", "pattern":
  // {"Regex": "\\p{L}+"}, "behavior": "Isolated", "invert": false}; a Sequence is its parts.
  std::vector<Json> normalizer, splitter, decoder;
  Model model = Model::bpe;
  std::vector<std::string> tokens;  // by id, with the added ones; "": no token has this id
  std::vector<AddedToken> added;
  std::vector<double> scores;      // unigram: log probabilities of the first tokens, by id
  std::vector<Merge> merges;       // BPE: the first is applied first
  int unk = -1;                    // of characters without a token; -1: they are dropped
  bool byte_fallback = false;      // first tries the tokens <0x00> to <0xFF>
  bool fuse_unk = false;           // BPE: one unk for adjacent characters
  bool ignore_merges = false;      // BPE: a word that is a token is that token
  std::string prefix;              // BPE, WordPiece: of tokens that do not begin a word
  std::string suffix;              // BPE: of tokens that end a word
  int max_characters = 100;        // WordPiece: longer words are unk
  std::vector<int> before, after;  // the tokens that it puts around a text
};

// Sets `merges` from the texts of their tokens. DataError from `where`: not a token.
void set_merges(TokenizerSpec& spec, const std::vector<std::pair<std::string, std::string>>& merges,
                const std::string& where);

// From a parsed tokenizer.json. DataError from `where`: malformed, or a part of it is not
// supported, which the message names.
TokenizerSpec read_tokenizer_json(const Json& json, const std::string& where);

// The same in the form that model files store: this line, a line of JSON, binary tables.
inline constexpr std::string_view tokenizer_magic = "tx-tokenizer 1\n";
std::string tokenizer_bytes(const TokenizerSpec& spec);
TokenizerSpec read_tokenizer(std::string_view bytes, const std::string& where);

}  // namespace tx
