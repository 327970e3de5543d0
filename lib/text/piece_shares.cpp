#include "lib/text/piece_shares.h"

#include <algorithm>
#include <cstdio>

namespace tx {

namespace {

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

}  // namespace

void PieceShares::add(std::span<const int> ids, const Vocabulary& vocabulary) {
  ++lines;
  pieces += int64_t(ids.size());
  unknown += std::count(ids.begin(), ids.end(), Vocabulary::unk);
  bytes += std::count_if(ids.begin(), ids.end(), [&](int id) { return vocabulary.is_byte(id); });
}

PieceShares count_shares(const IdCache& cache, int side, const Vocabulary& vocabulary,
                         int64_t most_lines) {
  PieceShares shares;
  for (int64_t pair = 0; pair < std::min(cache.pairs(), most_lines); ++pair)
    shares.add(cache.ids(pair, side), vocabulary);
  return shares;
}

std::string describe(const PieceShares& shares, const Vocabulary& vocabulary) {
  const std::string unknown = percent(shares.unknown_share()) + " <unk>";
  return vocabulary.kind() == "words" ? unknown
                                      : unknown + ", " + percent(shares.byte_share()) + " bytes";
}

}  // namespace tx
