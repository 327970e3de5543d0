// The input of a search: the tokens of a line, and constraints on its output.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tx {

// What a model of kind encoder gives for a line: the tokens at its masks, or one vector, the mean
// of the last layer over the tokens or the last layer at <s>, which precedes them.
enum class Encoding { masks, mean, first };

struct Source {
  std::vector<int> ids;  // tokens without <eos>, at least one; the prompt of a language model
  int64_t line = 1;      // part of the counter of random numbers when sampling
  // With SearchOptions::forced_target, the output to score: tokens, and <eos> unless it was cut.
  std::vector<int> target;
  // The output begins with these tokens (SearchOptions::prefix) and then with the text `rest`
  // (Vocabulary::token_bytes()) in any tokens; the vocabulary encodes it as `rest_tokens` tokens.
  std::vector<int> prefix = {};
  std::string rest = {};
  int64_t rest_tokens = 0;
  bool ends_word = false;  // what follows them does not continue their last word
  // With SearchOptions::constraints, the phrases that the output must contain; none is empty.
  std::vector<std::vector<int>> phrases = {};
  std::string gap = {};  // of a part of a line, the white space between the previous part and it
  // Language models: `ids` end in the tokens of a word that may be incomplete; their number.
  int64_t open_tokens = 0;
  bool opens = false;  // language models: the output is a whole text, without a prompt
  Encoding encoding = Encoding::masks;                  // models of kind encoder
  bool blank() const { return ids.empty() && !opens; }  // the output is empty
  // The length that --max-extra is added to: that of the source, or of the prefix if it is longer.
  int64_t tokens() const {
    return int64_t(std::max(ids.size(), prefix.size() + size_t(rest_tokens)));
  }
};

// The share of a batch that a source takes, in tokens. A short source counts as min_cost tokens,
// because its cache has --max-extra positions besides its length.
constexpr int64_t min_cost = 16;
inline int64_t cost_of(const Source& source) {
  const size_t longer = std::max(size_t(source.tokens()) + 1, source.target.size());
  return std::max(min_cost, int64_t(longer));
}

}  // namespace tx
