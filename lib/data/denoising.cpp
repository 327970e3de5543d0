#include "lib/data/denoising.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/base/philox.h"

namespace tx {

namespace {

constexpr uint32_t span_site = 0x7370616e;  // keeps the spans apart from other uses of the seed
constexpr double taken_share = 0.15, mean_span = 3;

enum class Draw { taken, kept };

uint32_t draw(const MaskedSentence& s, Draw what, uint32_t position) {
  return Philox::block(uint32_t(s.seed), uint32_t(s.seed >> 32) ^ span_site, uint32_t(s.epoch),
                       s.place, position, uint32_t(uint64_t(s.epoch) >> 32))
      .word[what == Draw::taken ? 0 : 1];
}

// Cuts `total` into `parts` lengths of at least 1, every way equally likely: each place between two
// is a cut with the probability of the cuts wanted over the places left.
std::vector<int> cut(const MaskedSentence& sentence, Draw what, int total, int parts) {
  std::vector<int> lengths{1};
  for (int place = 1; place < total; ++place) {
    const uint64_t wanted = uint64_t(parts) - lengths.size(), left = uint64_t(total - place);
    if ((draw(sentence, what, uint32_t(place)) * left) >> 32 < wanted)
      lengths.push_back(1);
    else
      ++lengths.back();
  }
  TX_ASSERT(int(lengths.size()) == parts);
  return lengths;
}

}  // namespace

// Between two spans stands a token at least.
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
  // What stays before, between and behind the spans; the first and the last may be nothing.
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
