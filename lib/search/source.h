// The input of a search: the tokens of a line, and constraints on its output.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tx {

struct Source {
  std::vector<int> ids;  // tokens without <eos>, at least one; of a language model the prompt
  int64_t line = 1;      // sampling draws by it
  // With SearchOptions::forced_target, the output to score: tokens, and <eos> unless it was cut.
  std::vector<int> target;
  // With SearchOptions::prefix, the tokens that the output begins with.
  std::vector<int> prefix = {};
  // With SearchOptions::constraints, the phrases that the output must contain; none is empty.
  std::vector<std::vector<int>> phrases = {};
  bool opens = false;  // of a language model: the text begins here, there is no prompt
  bool blank() const { return ids.empty() && !opens; }  // the output is empty
  // The tokens of the longer side, as far as they are known: an output may have --max-extra more.
  int64_t tokens() const { return int64_t(std::max(ids.size(), prefix.size())); }
};

// The share of a batch that a source takes, in tokens. A short source costs more than its length,
// since its cache holds --max-extra tokens more.
constexpr int64_t min_cost = 16;
inline int64_t cost_of(const Source& source) {
  const size_t longer = std::max(size_t(source.tokens()) + 1, source.target.size());
  return std::max(min_cost, int64_t(longer));
}

}  // namespace tx
