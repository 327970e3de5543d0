#include "lib/data/masking.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/base/philox.h"
#include "lib/data/packing.h"

namespace tx {

namespace {

// Distinguish masks and spans from other uses of the seed.
constexpr uint32_t mask_site = 0x6d61736b, span_site = 0x7370616e;
constexpr double guessed = 0.15, hidden = 0.8, other = 0.9;

double uniform(uint32_t word) { return double(word) * 0x1p-32; }

Philox::Block draw(const MaskedSentence& s, uint32_t site, uint32_t position) {
  return Philox::block(uint32_t(s.seed), uint32_t(s.seed >> 32) ^ site, uint32_t(s.epoch), s.place,
                       position, uint32_t(uint64_t(s.epoch) >> 32));
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

constexpr double taken_share = 0.15, mean_span = 3;

enum class Draw { taken, kept };  // the words of a draw

// Splits `total` into `parts` lengths from 1, uniformly: cut with probability needed / left.
std::vector<int> cut(const MaskedSentence& sentence, Draw what, int total, int parts) {
  std::vector<int> lengths{1};
  for (int place = 1; place < total; ++place) {
    const uint64_t wanted = uint64_t(parts) - lengths.size(), left = uint64_t(total - place);
    if ((draw(sentence, span_site, uint32_t(place)).word[size_t(what)] * left) >> 32 < wanted)
      lengths.push_back(1);
    else
      ++lengths.back();
  }
  TX_ASSERT(int(lengths.size()) == parts);
  return lengths;
}

}  // namespace

void mask_tokens(const MaskedSentence& sentence, int vocabulary, std::span<int32_t> ids,
                 std::span<int32_t> labels) {
  TX_ASSERT(!ids.empty() && ids.size() == labels.size());
  std::fill(labels.begin(), labels.end(), no_label);
  bool any = false;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Philox::Block block = draw(sentence, mask_site, uint32_t(i));
    if (uniform(block.word[0]) >= guessed) continue;
    mask(block, vocabulary, ids[i], labels[i]);
    any = true;
  }
  if (any) return;
  const uint32_t chosen = draw(sentence, mask_site, 0).word[3] % uint32_t(ids.size());
  mask(draw(sentence, mask_site, chosen), vocabulary, ids[chosen], labels[chosen]);
}

// At least one token separates two spans.
SpanCounts count_spans(int tokens, int sentinels) {
  const int taken = std::max(1, int(std::lround(taken_share * tokens)));
  const int wanted = std::max(1, int(std::lround(taken / mean_span)));
  return {taken, std::min({wanted, sentinels, tokens - taken + 1})};
}

int denoised_length(int tokens, int side, int sentinels) {
  const auto [taken, spans] = count_spans(tokens, sentinels);
  return (side == 0 ? tokens - taken : taken) + spans;
}

std::vector<std::vector<int>> take_spans(const MaskedSentence& sentence,
                                         std::span<const int> sentinels, std::span<const int> ids) {
  const auto [taken, spans] = count_spans(int(ids.size()), int(sentinels.size()));
  const std::vector<int> lengths = cut(sentence, Draw::taken, taken, spans);
  // Lengths of the kept text before, between and after the spans; the first and the last may be 0.
  std::vector<int> kept = cut(sentence, Draw::kept, int(ids.size()) - taken + 2, spans + 1);
  --kept.front();
  --kept.back();
  std::vector<int> source, target;
  auto at = ids.begin();
  const auto move = [&](std::vector<int>& to, int count) {
    to.insert(to.end(), at, at + count);
    at += count;
  };
  for (size_t i = 0; i < size_t(spans); ++i) {
    move(source, kept[i]);
    source.push_back(sentinels[i]);
    target.push_back(sentinels[i]);
    move(target, lengths[i]);
  }
  move(source, kept.back());
  return {source, target};
}

}  // namespace tx
