// The models of tokenizers: a word into ids.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/subword/tokenizer/spec.h"

namespace tx {

class WordModel {
 public:
  virtual ~WordModel() = default;
  // Appends the ids of a word of valid UTF-8 that is not empty.
  virtual void add(std::string_view word, std::vector<int>& ids) const = 0;
  // The first part of a word that can be split without the rest, in bytes.
  virtual size_t part(std::string_view word) const { return word.size(); }
};

// by_bytes: tokens name bytes by GPT-2's characters. DataError from `where`: malformed.
std::unique_ptr<WordModel> make_word_model(const TokenizerSpec& spec, bool by_bytes,
                                           const std::string& where);
std::unique_ptr<WordModel> make_bpe(const TokenizerSpec& spec, bool by_bytes);
std::unique_ptr<WordModel> make_unigram(const TokenizerSpec& spec, const std::string& where);

// Tokens of the model by text.
class ModelTokens {
 public:
  ModelTokens() = default;
  explicit ModelTokens(const TokenizerSpec& spec);
  void add(std::string text, int id) { ids_.insert_or_assign(std::move(text), id); }
  int find(std::string_view text) const {  // -1: no such token
    const auto found = ids_.find(text);
    return found == ids_.end() ? -1 : found->second;
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int, Hash, std::equal_to<>> ids_;
};

// Whether a token of the model has this id, and calls f(id, text) for each such token.
template <class F>
void each_model_token(const TokenizerSpec& spec, F&& f) {
  std::vector<bool> outside(spec.tokens.size());
  for (const AddedToken& token : spec.added) outside[size_t(token.id)] = !token.in_model;
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    if (!outside[id] && !spec.tokens[id].empty()) f(int(id), spec.tokens[id]);
}

// The ids of the tokens <0x00> to <0xFF>, -1 where there is none.
std::array<int, 256> byte_tokens(const ModelTokens& tokens);

// GPT-2's characters for bytes: printable ones are themselves, others follow U+0100.
char32_t character_of_byte(unsigned char byte);
// The bytes that a token names; false if it has another character.
bool bytes_of_token(std::string_view token, std::string& bytes);

}  // namespace tx
