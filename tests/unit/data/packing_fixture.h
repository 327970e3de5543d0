// A cache of made-up text whose lengths the test chooses.
#pragma once
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "lib/base/philox.h"
#include "lib/data/packing.h"
#include "tests/support.h"

namespace tx {

// The first word of line n of side s encodes n and s, so that rows can be traced back.
struct PackingFixture {
  PackingFixture() {
    std::string list = "tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n";
    for (int i = 0; i < 1000; ++i) list += "w" + std::to_string(i) + "\n";
    words = parse_vocabulary(list, "words");
  }

  // lengths[i][s]: words of line i of side s.
  IdCache make(const std::vector<std::vector<int>>& lengths) const {
    std::vector<CacheSide> sides;
    for (size_t s = 0; s < lengths[0].size(); ++s) {
      std::string text;
      for (size_t i = 0; i < lengths.size(); ++i) {
        for (int k = 0; k < lengths[i][s]; ++k) {
          text += "w" + std::to_string((i + 7 * s + size_t(k)) % 1000) + " ";
        }
        text += '\n';
      }
      sides.push_back({{folder.file(std::to_string(s), text)}, words.get()});
    }
    build_cache(folder / "cache", sides, {});
    return IdCache(folder / "cache");
  }

  tx_test::TempFolder folder;
  std::shared_ptr<const Vocabulary> words;
};

inline bool same(const Batch& a, const Batch& b) {
  const auto equal = [](const BatchSide& x, const BatchSide& y) {
    return std::tie(x.ids, x.offsets, x.pair, x.position) ==
           std::tie(y.ids, y.offsets, y.pair, y.position);
  };
  return std::equal(a.sides.begin(), a.sides.end(), b.sides.begin(), b.sides.end(), equal) &&
         std::tie(a.labels, a.lines, a.epoch, a.sentences, a.tokens) ==
             std::tie(b.labels, b.lines, b.epoch, b.sentences, b.tokens);
}

// Sentence lengths like those of image captions: log-normal, the sides correlated.
inline std::vector<std::vector<int>> captions(int count, int sides = 2) {
  PhiloxStream random(11, 1);
  std::vector<std::vector<int>> lengths;
  for (int i = 0; i < count; ++i) {
    const double base = 2.5 + 0.3 * random.normal();
    std::vector<int> pair;
    for (int s = 0; s < sides; ++s) {
      pair.push_back(std::clamp(int(std::exp(base + 0.15 * random.normal())), 1, 60));
    }
    lengths.push_back(pair);
  }
  return lengths;
}

}  // namespace tx
