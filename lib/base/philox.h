// Philox4x32-10, the counter-based random generator of Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3" (SC 2011). A value is a pure function of (key, counter): no state, any order,
// any device. No other random numbers affect results, except numpy's in tx-bleu's resampling.
// Compiles under nvcc.
#pragma once
#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define TX_HOST_DEVICE __host__ __device__
#else
#define TX_HOST_DEVICE
#endif

namespace tx {

struct Philox {
  struct Block {
    uint32_t word[4];
  };
  static constexpr uint32_t multiplier0 = 0xD2511F53u, multiplier1 = 0xCD9E8D57u;
  static constexpr uint32_t weyl0 = 0x9E3779B9u, weyl1 = 0xBB67AE85u;

  TX_HOST_DEVICE static inline Block block(uint32_t key0, uint32_t key1, uint32_t c0, uint32_t c1,
                                           uint32_t c2, uint32_t c3) {
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t(multiplier0) * c0, p1 = uint64_t(multiplier1) * c2;
      const uint32_t n0 = uint32_t(p1 >> 32) ^ c1 ^ key0, n2 = uint32_t(p0 >> 32) ^ c3 ^ key1;
      c1 = uint32_t(p1);
      c3 = uint32_t(p0);
      c0 = n0;
      c2 = n2;
      key0 += weyl0;
      key1 += weyl1;
    }
    return {{c0, c1, c2, c3}};
  }
};

// A stream for sequential host code: key = (seed, site), counter = running count.
class PhiloxStream {
 public:
  PhiloxStream(uint64_t seed, uint32_t site) : seed_(seed), site_(site) {}
  uint32_t next() {
    if (used_ == 4) {
      now_ = Philox::block(uint32_t(seed_), site_, uint32_t(count_), uint32_t(count_ >> 32),
                           uint32_t(seed_ >> 32), 0x7478u);
      ++count_;
      used_ = 0;
    }
    return now_.word[used_++];
  }
  // Uniform in [0, 1) with 53 bits.
  double uniform() {
    const uint64_t high = next(), low = next();
    return double(((high << 32) | low) >> 11) * 0x1p-53;
  }
  // Standard normal (Box-Muller, cosine branch only: one value from two uniforms).
  double normal() {
    const double u = 1.0 - uniform(), v = uniform();  // u in (0, 1]: its logarithm is finite
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * M_PI * v);
  }

 private:
  uint64_t seed_, count_ = 0;
  uint32_t site_;
  int used_ = 4;
  Philox::Block now_{};
};

}  // namespace tx
