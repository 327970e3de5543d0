// The decoder of a tokenizer: joins the texts of tokens.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/subword/tokenizer/expression.h"

namespace tx {

class TokenDecoder {
 public:
  // DataError from `where`: an unknown step, or one with malformed values.
  TokenDecoder(const std::vector<Json>& steps, const std::string& where);
  std::string join(std::vector<std::string> tokens) const;
  // What a token that follows others adds to a text; it may be a part of a character.
  std::string bytes(const std::string& token) const;

 private:
  enum class Kind { bytes, byte_names, metaspace, word_piece, replace, strip, fuse };
  struct Step {
    Kind kind = Kind::fuse;
    std::string text;  // Metaspace: the sign; WordPiece: the prefix; Strip: the character
    std::string by;    // Replace
    bool drops_first = false, cleans = false;
    size_t start = 0, stop = 0;  // Strip
    std::shared_ptr<const Expression> expression;
  };
  static void apply(const Step& step, std::vector<std::string>& tokens);

  std::vector<Step> steps_;
};

}  // namespace tx
