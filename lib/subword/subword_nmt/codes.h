// Codes of subword-nmt (https://github.com/rsennrich/subword-nmt), versions 0.1 and 0.2, applied
// byte for byte like its apply-bpe. Unlike a subword model they need tokenised text, have no ids,
// and do not restore runs of spaces or a literal "@@".
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lib/subword/subword_nmt/codes_table.h"
#include "lib/subword/subword_nmt/glossary.h"
#include "lib/subword/token_lines.h"

namespace tx {

struct CodesOptions {
  int merges = -1;               // how many of the file's merges to use; -1: all
  std::string separator = "@@";  // ends each token of a word except the last
  std::string vocabulary;        // a file for read_tokens(); empty: none
  std::optional<int> threshold;  // for their counts
  std::vector<std::string> glossaries;
};

class Codes {
 public:
  // DataError with the place for a line without exactly two tokens, or an unknown version.
  Codes(const std::string& path, const CodesOptions& options);

  // The segmented line, of valid UTF-8, and its `counts`. Thread-safe. With `draws`, which belong
  // to this line, BPE-dropout: each occurrence of the best merge is dropped with the probability.
  std::string apply(std::string_view line, MergeDraws* draws, LineCounts& counts) const;

 private:
  void cut(std::string_view part, MergeDraws* draws, std::vector<std::string>& tokens) const;
  void append_known(std::string token, bool last, std::vector<std::string>& tokens) const;
  void split(std::string token, bool last, std::vector<std::string>& tokens) const;
  bool known(const std::string& token, bool last) const;
  void apply_part(std::string_view text, MergeDraws* draws, LineCounts& counts,
                  std::string& out) const;

  CodesTable table_;
  std::unordered_set<std::string> vocabulary_;  // empty: all tokens are known
  std::string separator_;
  Glossary glossary_;
};

LineTokenizer line_tokenizer(Codes codes, const MergeDropout& dropout);  // for encode_lines()

// Joins tokens that end in `separator` with the next, like sed -r 's/(@@ )|(@@ ?$)//g' for "@@".
std::string join_separated(std::string_view line, std::string_view separator);
void join_lines(TextReader& in, const std::string& separator, int threads, Writer& out);

}  // namespace tx
