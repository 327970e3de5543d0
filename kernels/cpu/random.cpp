#include "kernels/cpu/random.h"

#include <cstring>

#if defined(__x86_64__)
#include "kernels/cpu/x86.h"
#endif
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

#if defined(__x86_64__)

// With AVX-512: eight blocks per register, each word in the low half of 64 bits; the high halves of
// products are never read, which saves operations.
namespace {

constexpr int kBlocks = 8;  // of one register

struct Words {
  __m512i x0, x1, x2, x3;
};

// Masked forms avoid a false warning of g++ 12.
TX_AVX512 inline void philox_round(Words& w, __m512i key0, __m512i key1) {
  const __m512i p0 = _mm512_maskz_mul_epu32(0xff, w.x0, _mm512_set1_epi64(Philox::multiplier0));
  const __m512i p1 = _mm512_maskz_mul_epu32(0xff, w.x2, _mm512_set1_epi64(Philox::multiplier1));
  w.x0 = _mm512_ternarylogic_epi64(_mm512_maskz_srli_epi64(0xff, p1, 32), w.x1, key0, 0x96);
  w.x2 = _mm512_ternarylogic_epi64(_mm512_maskz_srli_epi64(0xff, p0, 32), w.x3, key1, 0x96);
  w.x1 = p1;
  w.x3 = p0;
}

// Writes the first `count` blocks; words 0 to 3 of a block are adjacent.
TX_AVX512 inline void store_blocks(const Words& w, int64_t count, uint16_t* bits) {
  const __m512i low = _mm512_mask_shuffle_epi32(w.x0, 0xaaaa, w.x1, _MM_PERM_CCAA);
  const __m512i high = _mm512_mask_shuffle_epi32(w.x2, 0xaaaa, w.x3, _MM_PERM_CCAA);
  const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
  const __m512i second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
  const __m512i front = _mm512_permutex2var_epi64(low, first, high);
  const __m512i back = _mm512_permutex2var_epi64(low, second, high);
  if (count >= kBlocks) {
    _mm512_storeu_si512(bits, front);
    _mm512_storeu_si512(bits + 32, back);
  } else {
    const unsigned words = (1u << 2 * count) - 1;
    _mm512_mask_storeu_epi64(bits, __mmask8(words), front);
    _mm512_mask_storeu_epi64(bits + 32, __mmask8(words >> 8), back);
  }
}

// Blocks of a row from `first` on, `Registers` at once to hide latency; writes `count` blocks.
template <int Registers>
TX_AVX512 void draw(const PhiloxRow& row, int64_t first, int64_t count, uint16_t* bits) {
  const __m512i number = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  Words w[Registers];
  TX_UNROLL for (int r = 0; r < Registers; ++r) {
    w[r] = {_mm512_set1_epi64(row.c0), _mm512_set1_epi64(row.c1), _mm512_set1_epi64(row.c2),
            _mm512_add_epi64(number, _mm512_set1_epi64(row.first + first + r * kBlocks))};
  }
  uint32_t key0 = row.seed, key1 = row.site;
  for (int round = 0; round < 10; ++round) {
    const __m512i keys0 = _mm512_set1_epi64(key0), keys1 = _mm512_set1_epi64(key1);
    TX_UNROLL for (int r = 0; r < Registers; ++r) philox_round(w[r], keys0, keys1);
    key0 += Philox::weyl0;
    key1 += Philox::weyl1;
  }
  TX_UNROLL for (int r = 0; r < Registers; ++r) {
    const int64_t left = count - r * kBlocks;
    if (left > 0) store_blocks(w[r], left, bits + r * kBlocks * 8);
  }
}

}  // namespace

void philox_row_avx512(const PhiloxRow& row, int64_t blocks, uint16_t* bits) {
  int64_t first = 0;
  for (; blocks - first > 2 * kBlocks; first += 4 * kBlocks)
    draw<4>(row, first, blocks - first, bits + 8 * first);
  if (blocks - first > kBlocks)
    draw<2>(row, first, blocks - first, bits + 8 * first);
  else if (blocks > first)
    draw<1>(row, first, blocks - first, bits + 8 * first);
}
#endif

}  // namespace tx
