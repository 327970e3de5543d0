// How well a vocabulary fits a text: the share of its pieces that are <unk> or single bytes.
#pragma once
#include <span>
#include <string>

#include "lib/subword/vocabulary.h"

namespace tx {

struct PieceShares {
  int64_t lines = 0, pieces = 0;
  int64_t unknown = 0;  // pieces that are <unk>
  int64_t bytes = 0;    // pieces that stand for one byte of a character without a piece

  void add(std::span<const int> ids, const Vocabulary& vocabulary);  // a line
  double unknown_share() const { return double(unknown) / double(pieces > 0 ? pieces : 1); }
  double byte_share() const { return double(bytes) / double(pieces > 0 ? pieces : 1); }
};

// "0.0 % <unk>, 1.3 % bytes", without the bytes for a list of words, which has none.
std::string describe(const PieceShares& shares, const Vocabulary& vocabulary);

}  // namespace tx
