// Rules for Western punctuation that mteval-v13a and tercom share, and the tokenizer of tercom.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "lib/eval/tokenizers/unicode.h"

namespace tx {

// Resolves &quot; &amp; &lt; &gt;, one after another: "&amp;lt;" becomes "<".
void resolve_entities(std::string& text);

// Splits hyphenated words of tokenized text, "rich-text" -> "rich ##AT##-##AT## text", as the
// English-German scores of Vaswani et al. (2017) do: get_ende_bleu.sh of tensor2tensor, which is
// s{(\S)-(\S)}{$1 ##AT##-##AT## $2}g in Perl. A match ends behind $2, so "a-b-c" is split once.
void split_compounds(std::string_view text, std::string& split);

// Puts spaces around ASCII symbols, around points and commas outside numbers, and around a hyphen
// after a digit. The context of a character matters, so the result at the ends of a line depends on
// whether a space is there.
class WesternRules {
 public:
  void apply(std::string& text);  // both of the following
  void isolate_symbols(std::string& text);
  void split_points(std::string& text);

 private:
  std::string next_;
};

// The tokenizer of tercom, WMT's TER script. `normalize`: tokenises punctuation, resolves entities.
// `no_punctuation`: removes . , ? : ; ! " ( ). `asian`: the same for Chinese and Japanese.
class TercomTokenizer {
 public:
  TercomTokenizer(bool case_sensitive, bool normalize, bool no_punctuation, bool asian);
  // Rewrites text (valid UTF-8, one line) so that white space separates its words.
  void apply(std::string_view text, std::string& tokenized);

 private:
  bool normalize_, no_punctuation_, asian_;
  std::unique_ptr<Lowercaser> lowercaser_;  // null: mixed case
  WesternRules rules_;
  std::string next_;
};

}  // namespace tx
