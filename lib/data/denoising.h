// What an encoder-decoder is to restore when it is trained from one text (span corruption; Raffel
// et al., 2020): spans of 3 tokens on average, 15 % of all, are taken out. A sentinel stands for
// each in the source; the target lists the sentinels, each with its span behind it. Which spans
// depends on the seed, the epoch, the text's place in the epoch's order and the position alone, as
// masks do (masking.h); how many depends on the text's length alone.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lib/data/masking.h"

namespace tx {

// Of a text of so many tokens, at least one, with so many sentinels, at least one: tokens taken
// out, and spans of them. Spans are longer where there are not sentinels enough.
struct SpanCounts {
  int taken, spans;
};
SpanCounts count_spans(int tokens, int sentinels);
// Tokens of its source (side 0) or target (side 1), which never fall as the text gets longer.
int denoised_length(int tokens, int side, int sentinels);

// Source and target of a text of at least one token.
std::vector<std::vector<int>> take_spans(const MaskedSentence& sentence,
                                         std::span<const int> sentinels, std::span<const int> ids);

}  // namespace tx
