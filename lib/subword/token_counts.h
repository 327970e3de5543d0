// Frequencies of tokens in a text, files of such counts, and shares of <unk> and bytes.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/io.h"
#include "lib/subword/vocabulary.h"
#include "lib/text/corpus.h"

namespace tx {

using TokenCounts = std::vector<std::pair<std::string, int64_t>>;

// The tokens of a text by descending frequency, ties by id; independent of `threads`.
TokenCounts count_tokens(TextReader& in, const Vocabulary& vocabulary, int threads);

// The tokens of a file of counts ("TOKEN COUNT" with a tab or space, or TOKEN, which counts 1)
// whose count is at least `threshold`, if given, in the order of the file. DataError: a count that
// is not a number, an empty line, invalid UTF-8, or more than a quarter of the longer tokens are
// not `known`: a list for another vocabulary.
std::vector<std::string> read_tokens(const std::string& path, std::optional<int> threshold,
                                     const std::function<bool(const std::string&)>& known);

// The token with \t for a tab and \n for a line feed, which foreign tokens can have.
std::string in_one_line(std::string_view token);

// separator: a tab (SentencePiece) or a space (subword-nmt).
void write_counts(const TokenCounts& counts, char separator, Writer& out);

// How well a vocabulary fits a text: the fractions of its tokens that are <unk> or bytes.
struct TokenShares {
  int64_t lines = 0, tokens = 0;
  int64_t unknown = 0;  // <unk> tokens
  int64_t bytes = 0;    // byte tokens

  void add(std::span<const int> ids, const Vocabulary& vocabulary);  // a line
  double unknown_share() const { return double(unknown) / double(tokens > 0 ? tokens : 1); }
  double byte_share() const { return double(bytes) / double(tokens > 0 ? tokens : 1); }
};

// "0.0 % <unk>, 1.3 % bytes"; a list of words has no bytes.
std::string describe(const TokenShares& shares, const Vocabulary& vocabulary);

}  // namespace tx
