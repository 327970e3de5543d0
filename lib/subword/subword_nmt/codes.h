// The codes of subword-nmt (https://github.com/rsennrich/subword-nmt), versions 0.1 and 0.2,
// applied byte for byte as its apply-bpe does. Unlike a subword model they take text that has been
// tokenised, have no ids, and keep neither runs of spaces nor where a "@@" came from.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lib/subword/encode.h"
#include "lib/subword/merge_dropout.h"
#include "lib/subword/subword_nmt/codes_table.h"
#include "lib/subword/subword_nmt/glossary.h"

namespace tx {

struct CodesOptions {
  int merges = -1;               // how many of the file's merges to use; -1: all
  std::string separator = "@@";  // ends each token of a word but the last
  std::string vocabulary;        // a file of tokens, as read_pieces() takes it; empty: none
  std::optional<int> threshold;  // of their counts
  std::vector<std::string> glossaries;
};

class Codes {
 public:
  // A line that does not hold two tokens, or an unknown version: DataError with the place.
  Codes(const std::string& path, const CodesOptions& options);

  // The line with its words cut, of valid UTF-8; `counts` are those of the line. Safe to call from
  // several threads. With draws, which must be this line's, BPE-dropout: each time the first of the
  // possible merges is sought each place is left out with the probability.
  std::string apply(std::string_view line, MergeDraws* draws, LineCounts& counts) const;

 private:
  void cut(std::string_view part, MergeDraws* draws, std::vector<std::string>& tokens) const;
  void append_known(std::string token, bool last, std::vector<std::string>& tokens) const;
  void split(std::string token, bool last, std::vector<std::string>& tokens) const;
  bool known(const std::string& token, bool last) const;
  void apply_part(std::string_view text, MergeDraws* draws, LineCounts& counts,
                  std::string& out) const;

  CodesTable table_;
  std::unordered_set<std::string> vocabulary_;  // empty: every token may stand
  std::string separator_;
  Glossary glossary_;
};

LineEncoder line_encoder(Codes codes, const MergeDropout& dropout);  // what encode_lines() takes

// Joins tokens that end in `separator` with the next, as sed -r 's/(@@ )|(@@ ?$)//g' does for "@@".
std::string join_separated(std::string_view line, std::string_view separator);
void join_lines(TextReader& in, const std::string& separator, int threads, Writer& out);

}  // namespace tx
