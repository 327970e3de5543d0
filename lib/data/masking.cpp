#include "lib/data/masking.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/philox.h"
#include "lib/data/packing.h"

namespace tx {

namespace {

constexpr uint32_t mask_site = 0x6d61736b;  // keeps the masks apart from other uses of the seed
constexpr double guessed = 0.15, hidden = 0.8, other = 0.9;

double uniform(uint32_t word) { return double(word) * 0x1p-32; }

Philox::Block draw(const MaskedSentence& s, uint32_t position) {
  return Philox::block(uint32_t(s.seed), uint32_t(s.seed >> 32) ^ mask_site, uint32_t(s.epoch),
                       s.place, position, uint32_t(uint64_t(s.epoch) >> 32));
}

void mask(const Philox::Block& block, int vocabulary, int32_t& id, int32_t& label) {
  label = id;
  const double way = uniform(block.word[1]);
  if (way < hidden)
    id = mask_token;
  else if (way < other && vocabulary > Vocabulary::specials)
    id =
        Vocabulary::specials + int32_t(block.word[2] % uint32_t(vocabulary - Vocabulary::specials));
}

}  // namespace

void mask_tokens(const MaskedSentence& sentence, int vocabulary, std::span<int32_t> ids,
                 std::span<int32_t> labels) {
  TX_ASSERT(!ids.empty() && ids.size() == labels.size());
  std::fill(labels.begin(), labels.end(), no_label);
  bool any = false;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Philox::Block block = draw(sentence, uint32_t(i));
    if (uniform(block.word[0]) >= guessed) continue;
    mask(block, vocabulary, ids[i], labels[i]);
    any = true;
  }
  if (any) return;
  const uint32_t chosen = draw(sentence, 0).word[3] % uint32_t(ids.size());
  mask(draw(sentence, chosen), vocabulary, ids[chosen], labels[chosen]);
}

}  // namespace tx
