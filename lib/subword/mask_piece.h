// The token that stands for a hidden one in a masked language model: <pad>, which no text holds.
#pragma once
#include "lib/subword/vocabulary.h"

namespace tx {

inline constexpr int mask_token = Vocabulary::pad;
inline constexpr char mask_text[] = "<mask>";  // in lines whose masks are to be filled

}  // namespace tx
