// The random numbers of numpy.random.default_rng(seed), which sacreBLEU resamples with: PCG64
// (O'Neill, 2014) seeded through numpy's SeedSequence, and the two ways in which its Generator
// draws what is needed here. With them the same seed gives the same resamples. Numbers come in
// words of 32 bits, and it can skip to any of them.
#pragma once
#include <cstdint>
#include <span>

namespace tx {

class NumpyRandom {
 public:
  explicit NumpyRandom(uint64_t seed);
  // Skips this many words. The time grows with the logarithm of their number.
  void skip(uint64_t words);
  // The next words. Generator.integers(2, dtype=bool) of an array takes their bits from the lowest.
  void draw_words(std::span<uint32_t> words);
  // Replaces `indices` by numbers below `bound` (1..2^32), each as likely (Generator.choice). Takes
  // as many words, and further ones in place of those that it must reject, whose number it returns.
  uint64_t draw_indices(std::span<uint32_t> indices, uint64_t bound);

 private:
  __extension__ using uint128 = unsigned __int128;
  // state * factor + addend, which one or more steps of the generator are.
  struct Steps {
    uint128 factor, addend;
  };
  static uint64_t output(uint128 state);
  Steps steps(uint64_t count) const;
  uint64_t next64();
  // Writes the 2 x pairs words of as many steps.
  void draw_pairs(uint32_t* words, size_t pairs);

  uint128 state_ = 0, increment_ = 0;
  Steps one_{}, two_{};
  uint32_t half_ = 0;
  bool has_half_ = false;
};

}  // namespace tx
