#include "lib/subword/piece_shares.h"

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

void TokenShares::add(std::span<const int> ids, const Vocabulary& vocabulary) {
  ++lines;
  tokens += int64_t(ids.size());
  unknown += std::count(ids.begin(), ids.end(), Vocabulary::unk);
  bytes += std::count_if(ids.begin(), ids.end(), [&](int id) { return vocabulary.is_byte(id); });
}

std::string describe(const TokenShares& shares, const Vocabulary& vocabulary) {
  const std::string unknown = percent(shares.unknown_share()) + " <unk>";
  return vocabulary.kind() == "words" ? unknown
                                      : unknown + ", " + percent(shares.byte_share()) + " bytes";
}

}  // namespace tx
