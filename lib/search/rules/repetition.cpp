#include "lib/search/rules/repetition.h"

#include <algorithm>

#include "lib/subword/vocabulary.h"

namespace tx {

bool MinimumLength::allows(const OpenOutput& output, int piece) const {
  return piece != Vocabulary::eos || int64_t(output.pieces.size()) >= pieces_;
}

bool NoRepeat::allows(const OpenOutput& output, int piece) const {
  const std::span<const int> pieces = output.pieces;
  const size_t before = size_t(length_) - 1;  // pieces that stand in front of the one at hand
  if (piece == Vocabulary::eos || pieces.size() <= before) return true;
  const std::span<const int> tail = pieces.last(before);
  for (size_t i = before; i < pieces.size(); ++i) {
    if (pieces[i] == piece && std::ranges::equal(pieces.subspan(i - before, before), tail))
      return false;
  }
  return true;
}

}  // namespace tx
