// The random numbers of numpy.random.default_rng(seed), as in sacreBLEU: PCG64 (O'Neill, 2014)
// seeded by SeedSequence, so that the same seed gives the same resamples. 32-bit words, any number
// of which can be skipped.
#pragma once
#include <cstdint>
#include <span>

namespace tx {

class NumpyRandom {
 public:
  explicit NumpyRandom(uint64_t seed);
  // Skips this many words in logarithmic time.
  void skip(uint64_t words);
  // The next words. Generator.integers(2, dtype=bool) uses their bits from the lowest.
  void draw_words(std::span<uint32_t> words);
  // Fills `indices` with uniform numbers below `bound` (1..2^32) (Generator.choice). Uses one word
  // for each, and another for each rejected word; returns the number of rejected words.
  uint64_t draw_indices(std::span<uint32_t> indices, uint64_t bound);

 private:
  __extension__ using uint128 = unsigned __int128;
  // One or more steps of the generator: state * factor + addend.
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
