// The random numbers of numpy.random.default_rng(seed), which sacreBLEU resamples with: PCG64
// (O'Neill, 2014) seeded through numpy's SeedSequence, and the two ways in which its Generator
// draws what is needed here. With them the same seed gives the same resamples.
#pragma once
#include <cstdint>
#include <span>

namespace tx {

class NumpyRandom {
 public:
  explicit NumpyRandom(uint64_t seed);
  // Replaces `indices` by numbers below `bound` (1..2^32), each as likely (Generator.choice).
  void draw_indices(std::span<uint32_t> indices, uint64_t bound);
  // Generator.integers(2, dtype=bool): one call of this goes on where the last one ended only
  // within one array, so an array's bits are drawn by calls without another draw between them.
  bool draw_bit();

 private:
  __extension__ using uint128 = unsigned __int128;
  void step();
  uint64_t next64();
  uint32_t next32();
  uint32_t below(uint64_t bound);

  uint128 state_ = 0, increment_ = 0;
  uint32_t half_ = 0, bits_ = 0;
  bool has_half_ = false;
  int bits_left_ = 0;
};

}  // namespace tx
