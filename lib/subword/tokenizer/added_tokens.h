// Finds the added tokens of a tokenizer in a text: from left to right, the longest at each place.
#pragma once
#include <array>
#include <bitset>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/subword/tokenizer/spec.h"

namespace tx {

class AddedTokens {
 public:
  // `text`: what to find, which may differ from the token's text. The first of equal texts counts.
  void add(const AddedToken& token, std::string text);
  bool empty() const { return tokens_.empty(); }

  // Calls f(part, token) for the parts of a text in order; token: null for the text between tokens.
  template <class F>
  void each(std::string_view text, F&& f) const {
    size_t done = 0;
    for (size_t at = 0; at < text.size();) {
      size_t size = 0;
      const AddedToken* token = find(text.substr(at), size);
      if (token == nullptr) {
        ++at;
        continue;
      }
      const size_t end = at + size;
      if (!token->single_word || stands_alone(text, at, end)) {
        const size_t begin = std::max(token->lstrip ? before_spaces(text, at) : at, done);
        if (begin > done) f(text.substr(done, begin - done), nullptr);
        done = token->rstrip ? behind_spaces(text, end) : end;
        f(text.substr(begin, done - begin), token);
      }
      at = end;
    }
    if (done < text.size()) f(text.substr(done), nullptr);
  }

 private:
  const AddedToken* find(std::string_view text, size_t& size) const;
  static bool stands_alone(std::string_view text, size_t begin, size_t end);
  static size_t before_spaces(std::string_view text, size_t end);
  static size_t behind_spaces(std::string_view text, size_t begin);

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, AddedToken, Hash, std::equal_to<>> tokens_;  // by what to find
  std::array<std::vector<size_t>, 256> sizes_;  // by first byte, the longest first
  std::bitset<65536> pairs_;                    // of first bytes
};

}  // namespace tx
