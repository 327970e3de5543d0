// What a masked language model is to guess (Devlin et al., 2019): 15 % of the tokens, of which 80 %
// are hidden behind a mask, 10 % become another token and 10 % stay. Which ones depends on the
// seed, the epoch, the sentence's place in the epoch's order and the position alone, as dropout
// does: neither packing nor resuming changes them.
#pragma once
#include <cstdint>
#include <span>

#include "lib/subword/vocabulary.h"

namespace tx {

struct MaskedSentence {
  uint64_t seed;
  int64_t epoch;
  uint32_t place;  // of the sentence in the epoch's order
};

// `ids`: the tokens of a sentence, at least one, which are masked; `labels`, as long: the token
// itself where it is to be guessed, else no_label. At least one is.
void mask_tokens(const MaskedSentence& sentence, int vocabulary, std::span<int32_t> ids,
                 std::span<int32_t> labels);

}  // namespace tx
