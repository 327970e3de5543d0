// Training targets made from text alone. Masked language model (Devlin et al., 2019): 15 % of the
// tokens are predicted; of these 80 % are replaced by the mask, 10 % by a random token and 10 %
// kept, by the seed, the epoch, the sentence's index in the epoch's order and the position alone.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lib/subword/vocabulary.h"

namespace tx {

struct MaskedSentence {
  uint64_t seed;
  int64_t epoch;
  uint32_t place;  // index in the epoch's order
};

// Masks `ids`, the tokens of a sentence (at least one). `labels`, of the same length, gets the
// original token where it is to be predicted (at least one position), else no_label.
void mask_tokens(const MaskedSentence& sentence, int vocabulary, std::span<int32_t> ids,
                 std::span<int32_t> labels);

// Span corruption (Raffel et al., 2020) for an encoder-decoder: spans of 3 tokens on average, 15 %
// of all tokens, are removed. In the source a sentinel replaces each span; the target lists the
// sentinels, each followed by its span. The choice depends on the same values as masks.
struct SpanCounts {
  int taken, spans;  // removed tokens, spans
};
// For a text of `tokens` (at least one); with few `sentinels` the spans are fewer and longer.
SpanCounts count_spans(int tokens, int sentinels);
// Length of its source (side 0) or target (side 1), which is monotone in `tokens`.
int denoised_length(int tokens, int side, int sentinels);

// The source and target for a text of at least one token.
std::vector<std::vector<int>> take_spans(const MaskedSentence& sentence,
                                         std::span<const int> sentinels, std::span<const int> ids);

}  // namespace tx
