// How well a vocabulary fits a text: the share of its tokens that are <unk> or single bytes.
#pragma once
#include <span>
#include <string>

#include "lib/subword/vocabulary.h"

namespace tx {

struct TokenShares {
  int64_t lines = 0, tokens = 0;
  int64_t unknown = 0;  // tokens that are <unk>
  int64_t bytes = 0;    // tokens that stand for one byte of a character without a token

  void add(std::span<const int> ids, const Vocabulary& vocabulary);  // a line
  double unknown_share() const { return double(unknown) / double(tokens > 0 ? tokens : 1); }
  double byte_share() const { return double(bytes) / double(tokens > 0 ? tokens : 1); }
};

// "0.0 % <unk>, 1.3 % bytes", without the bytes for a list of words, which has none.
std::string describe(const TokenShares& shares, const Vocabulary& vocabulary);

}  // namespace tx
