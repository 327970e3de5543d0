// Phrases that must come (Post and Vilar, 2018): no end before all have come, and whatever is the
// next token of one that has not is among the candidates of a row. A phrase has come where its
// tokens stand in the output and no token that goes on with its last word stands behind them.
#pragma once
#include "lib/search/rules/rule.h"
#include "lib/subword/vocabulary.h"

namespace tx {

class RequiredPhrases : public Rule {
 public:
  explicit RequiredPhrases(const Vocabulary& vocabulary);
  bool allows(const OpenOutput& output, int token) const override;
  void wishes(const OpenOutput& output, std::vector<int>& tokens) const override;
  int64_t met(const OpenOutput& output) const override;

 private:
  // How many tokens of the phrase have come: all of it, or its beginning at the output's end.
  size_t come(std::span<const int> tokens, std::span<const int> phrase) const;
  std::vector<bool> goes_on_;  // by token: whether it continues a word
};

}  // namespace tx
