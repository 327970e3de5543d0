// The tokenizers of BLEU. Only scores with the same tokenizer are comparable, so the signature
// names it.
//   13a   mteval-v13a, the scoring script of WMT: resolves four entities, isolates ASCII
//         punctuation and symbols, except points and commas in numbers and hyphens not after a
//         digit
//   intl  mteval-v14 for all scripts: isolates Unicode symbols, and punctuation next to characters
//         that are not numbers
//   zh    isolates every Chinese character, the rest as 13a without entities
//   char  every character is a token
//   spm   the tokens of a SentencePiece model (spBLEU)
//   none  white space separates words
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
std::vector<std::string> tokenizers_not_built_in();  // those of sacreBLEU that need a dictionary

// `model` is the file of a SentencePiece model, only for spm, flores101, flores200 and spBLEU-1K.
// The signature includes its hash, "flores200[0123456789abcdef]", because any model can be given.
// UsageError for an unknown name, or if a model is missing or not needed.
std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name, const std::string& model = "");

// The function that reads a SentencePiece model, by default read_file(); tools can set one that
// reads other kinds of files.
using ReadModel = std::string (*)(const std::string& path);
void read_tokenizer_models_by(ReadModel read);

}  // namespace tx
