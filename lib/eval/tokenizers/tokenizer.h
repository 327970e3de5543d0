// The tokenisers of BLEU. Only scores of the same tokeniser are comparable, so the signature names
// it.
//   13a   that of mteval-v13a, the WMT's scoring script: four entities are resolved, punctuation
//         and symbols of ASCII stand alone, points and commas stay inside numbers, a hyphen is
//         split off only after a digit
//   intl  that of mteval-v14 for all scripts: Unicode's punctuation beside what is not a number,
//         and all its symbols, stand alone
//   zh    every Chinese character stands alone, the rest as 13a without its entities
//   char  every character is a token
//   spm   the tokens of a SentencePiece model (spBLEU)
//   none  the text is tokenised already: white space separates words
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string name() const = 0;  // as in the signature
  // Rewrites text (valid UTF-8, one line) so that white space separates its tokens.
  virtual void apply(std::string_view text, std::string& tokenized) = 0;
};

std::vector<std::string> tokenizer_names();          // the default first
std::vector<std::string> tokenizers_not_built_in();  // sacreBLEU's that need a dictionary

// `model` is the file of a SentencePiece model, for spm, flores101, flores200 and spBLEU-1K alone.
// The signature names its hash as well, "flores200[0123456789abcdef]": any model can be given.
// Throws UsageError where there is no such tokeniser or a model is missing or too many.
std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name, const std::string& model = "");

// How the bytes of a SentencePiece model come from the name given: read_file(), unless the tool
// knows other files that hold one.
using ReadModel = std::string (*)(const std::string& path);
void read_tokenizer_models_by(ReadModel read);

std::unique_ptr<Tokenizer> make_tokenizer_intl();  // tokenizer_intl.cpp
std::unique_ptr<Tokenizer> make_tokenizer_zh();    // tokenizer_zh.cpp

}  // namespace tx
