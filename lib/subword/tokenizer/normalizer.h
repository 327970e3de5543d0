// The normaliser of a tokenizer: steps that change a text before it is split.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/json.h"
#include "lib/subword/tokenizer/expression.h"
#include "lib/subword/tokenizer/unicode.h"

namespace tx {

// The table of SentencePiece's normalisers, applied as Hugging Face's tokenizers do: to grapheme
// clusters below 6 bytes, else to characters; of several entries the shortest.
class PrecompiledMap {
 public:
  // DataError from `where`: no such table.
  PrecompiledMap(const std::string& base64, const std::string& where);
  void apply(std::string& text) const;

 private:
  uint32_t unit(size_t at) const;
  std::optional<std::string_view> find(std::string_view text) const;
  void append(std::string& out, std::string_view cluster) const;

  std::string bytes_;
  size_t units_ = 0, texts_ = 0;  // units of the trie; where the texts begin
  std::array<std::optional<std::string_view>, 128> ascii_;
};

class Normalizer {
 public:
  // DataError from `where`: an unknown step, or one with malformed values.
  Normalizer(const std::vector<Json>& steps, const std::string& where);
  bool empty() const { return steps_.empty(); }
  // Changes valid UTF-8 in place; false if characters at the beginning were removed.
  bool apply(std::string& text) const;

 private:
  enum class Kind { form, lower, strip_accents, strip, replace, prepend, bert, precompiled, nmt };
  struct Step {
    Kind kind = Kind::form;
    NormalForm form = NormalForm::nfc;
    std::string text;  // to prepend, or the replacement
    bool left = false, right = false;
    bool clean = false, chinese = false, accents = false, lower = false;
    std::shared_ptr<const Expression> expression;
    std::shared_ptr<const PrecompiledMap> map;
  };
  static bool apply(const Step& step, std::string& text);

  std::vector<Step> steps_;
};

// The pattern of Replace and Split, {"String": ...} or {"Regex": ...}.
Expression read_pattern(const Json& step, const std::string& where);

}  // namespace tx
