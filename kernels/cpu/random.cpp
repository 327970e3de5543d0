#include "kernels/cpu/random.h"

#include <cstring>

#include "kernels/cpu/lanes.h"
#include "lib/base/philox.h"

namespace tx {

void philox_row(const PhiloxRow& row, int64_t blocks, uint16_t* bits) {
#if defined(__x86_64__)
  static const bool wide = register_bytes() == 64;
  if (wide) return philox_row_avx512(row, blocks, bits);
#endif
  philox_row_plain(row, blocks, bits);
}

TX_CLONES void philox_row_plain(const PhiloxRow& row, int64_t blocks, uint16_t* bits) {
  constexpr int chunk = 16;
  for (int64_t first = 0; first < blocks; first += chunk) {
    uint32_t x0[chunk], x1[chunk], x2[chunk], x3[chunk];
    for (int b = 0; b < chunk; ++b) {
      x0[b] = row.c0;
      x1[b] = row.c1;
      x2[b] = row.c2;
      x3[b] = row.first + uint32_t(first) + uint32_t(b);
    }
    uint32_t key0 = row.seed, key1 = row.site;
    for (int round = 0; round < 10; ++round) {
#pragma omp simd
      for (int b = 0; b < chunk; ++b) {
        const uint64_t p0 = uint64_t(Philox::multiplier0) * x0[b];
        const uint64_t p1 = uint64_t(Philox::multiplier1) * x2[b];
        x0[b] = uint32_t(p1 >> 32) ^ x1[b] ^ key0;
        x2[b] = uint32_t(p0 >> 32) ^ x3[b] ^ key1;
        x1[b] = uint32_t(p1);
        x3[b] = uint32_t(p0);
      }
      key0 += Philox::weyl0;
      key1 += Philox::weyl1;
    }
    const int count = int(blocks - first < chunk ? blocks - first : chunk);
    for (int b = 0; b < count; ++b) {
      const uint32_t words[4] = {x0[b], x1[b], x2[b], x3[b]};  // little-endian: low half first
      std::memcpy(bits + 8 * (first + b), words, sizeof words);
    }
  }
}

}  // namespace tx
