// The tokenisers of BLEU. Scores are comparable only where the tokeniser is the same, so its name
// stands in the signature.
//   13a   that of mteval-v13a, the WMT's scoring script: four entities are resolved, punctuation
//   and
//         symbols of ASCII stand alone, points and commas stay inside numbers, a hyphen is split
//         off behind a digit only
//   char  every character is a token
//   none  the text is tokenised already: words stand between white space
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string name() const = 0;
  // Rewrites text (valid UTF-8, one line) so that white space separates its tokens.
  virtual void apply(std::string_view text, std::string& tokenized) = 0;
};

std::vector<std::string> tokenizer_names();                          // the default first
std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name);  // throws UsageError

std::unique_ptr<Tokenizer> make_tokenizer_13a();  // tokenizer_13a.cpp

}  // namespace tx
