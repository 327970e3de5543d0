#include "lib/eval/resampling/numpy_random.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>

namespace tx {
namespace {

// numpy's SeedSequence: the words of the seed are hashed into a pool of four, the pool into the
// state of the generator. The constant of the hash changes at each use.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t seed) {
    const std::array<uint32_t, 4> words = {uint32_t(seed), uint32_t(seed >> 32), 0, 0};
    for (size_t i = 0; i < pool_.size(); ++i) pool_[i] = hash(words[i]);
    for (size_t from = 0; from < pool_.size(); ++from) {
      for (size_t to = 0; to < pool_.size(); ++to)
        if (from != to) pool_[to] = mix(pool_[to], hash(pool_[from]));
    }
  }

  std::array<uint64_t, 4> state() const {
    std::array<uint64_t, 4> state{};
    uint32_t constant = 0x8B51F9DDu;
    for (size_t i = 0; i < 2 * state.size(); ++i) {
      uint32_t word = pool_[i % pool_.size()] ^ constant;
      constant *= 0x58F38DEDu;
      word *= constant;
      word ^= word >> 16;
      state[i / 2] |= uint64_t(word) << (32 * (i % 2));
    }
    return state;
  }

 private:
  uint32_t hash(uint32_t word) {
    word ^= constant_;
    constant_ *= 0x931E8875u;
    word *= constant_;
    return word ^ word >> 16;
  }
  static uint32_t mix(uint32_t a, uint32_t b) {
    const uint32_t mixed = 0xCA01F9DDu * a - 0x4973F715u * b;
    return mixed ^ mixed >> 16;
  }

  uint32_t constant_ = 0x43B0D7E5u;
  std::array<uint32_t, 4> pool_{};
};

constexpr size_t block = 256;

// The upper halves of words * bound for a whole block; false if a lower half is below min, or
// without SSE2. Four at a time take a third of the time.
bool map_block([[maybe_unused]] const uint32_t* words, [[maybe_unused]] uint32_t bound,
               [[maybe_unused]] uint32_t min, [[maybe_unused]] uint32_t* upper) {
#ifdef __SSE2__
  const __m128i factor = _mm_set1_epi64x(bound), limit = _mm_set1_epi64x(min);
  const __m128i low = _mm_set1_epi64x(0xFFFFFFFF);
  __m128i below = _mm_setzero_si128();  // negative: some lower half is below the limit
  for (size_t i = 0; i < block; i += 4) {
    const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(words + i));
    const __m128i even = _mm_mul_epu32(four, factor);
    const __m128i odd = _mm_mul_epu32(_mm_srli_epi64(four, 32), factor);
    below = _mm_or_si128(below, _mm_sub_epi64(_mm_and_si128(even, low), limit));
    below = _mm_or_si128(below, _mm_sub_epi64(_mm_and_si128(odd, low), limit));
    const __m128i both = _mm_or_si128(_mm_srli_epi64(even, 32), _mm_andnot_si128(low, odd));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(upper + i), both);
  }
  return _mm_movemask_pd(_mm_castsi128_pd(below)) == 0;
#else
  return false;
#endif
}

}  // namespace

NumpyRandom::NumpyRandom(uint64_t seed) {
  const std::array<uint64_t, 4> words = SeedSequence(seed).state();
  const auto join = [](uint64_t high, uint64_t low) { return uint128(high) << 64 | low; };
  increment_ = join(words[2], words[3]) << 1 | 1;
  one_ = steps(1);
  two_ = steps(2);
  state_ = (increment_ + join(words[0], words[1])) * one_.factor + increment_;
}

// Brown, "Random number generation with arbitrary strides" (1994): squares for the bits of count.
NumpyRandom::Steps NumpyRandom::steps(uint64_t count) const {
  constexpr uint64_t high = 2549297995355413924u, low = 4865540595714422341u;
  Steps all{1, 0}, power{uint128(high) << 64 | low, increment_};
  for (; count > 0; count >>= 1) {
    if (count & 1) all = {all.factor * power.factor, all.addend * power.factor + power.addend};
    power = {power.factor * power.factor, (power.factor + 1) * power.addend};
  }
  return all;
}

uint64_t NumpyRandom::output(uint128 state) {
  const uint64_t folded = uint64_t(state >> 64) ^ uint64_t(state);
  const auto turn = unsigned(state >> 122);
  return folded >> turn | folded << (-turn & 63);
}

uint64_t NumpyRandom::next64() {
  state_ = state_ * one_.factor + one_.addend;
  return output(state_);
}

// Two interleaved states that advance two steps at a time, to hide the latency of the product.
void NumpyRandom::draw_pairs(uint32_t* words, size_t pairs) {
  const auto put = [&](uint64_t both) {
    *words++ = uint32_t(both);
    *words++ = uint32_t(both >> 32);
  };
  if (pairs % 2 == 1) put(next64());
  if (pairs < 2) return;
  const Steps two = two_;
  put(next64());
  uint128 first = state_;
  put(next64());
  uint128 second = state_;
  for (size_t i = 2; i + 1 < pairs; i += 2) {
    first = first * two.factor + two.addend;
    second = second * two.factor + two.addend;
    put(output(first));
    put(output(second));
  }
  state_ = second;
}

void NumpyRandom::skip(uint64_t words) {
  if (words > 0 && has_half_) {
    has_half_ = false;
    --words;
  }
  const Steps many = steps(words / 2);
  state_ = state_ * many.factor + many.addend;
  uint32_t last;
  if (words % 2 == 1) draw_words({&last, 1});
}

void NumpyRandom::draw_words(std::span<uint32_t> words) {
  if (has_half_ && !words.empty()) {
    words[0] = half_;
    has_half_ = false;
    words = words.subspan(1);
  }
  draw_pairs(words.data(), words.size() / 2);
  if (words.size() % 2 == 0) return;
  const uint64_t both = next64();
  words.back() = uint32_t(both);
  half_ = uint32_t(both >> 32);
  has_half_ = true;
}

// Lemire's method: the upper half of a product; a word is redrawn if the lower half is below `min`.
uint64_t NumpyRandom::draw_indices(std::span<uint32_t> indices, uint64_t bound) {
  if (bound == 1) {
    std::fill(indices.begin(), indices.end(), 0);
    return 0;
  }
  const auto min = uint32_t((uint64_t(1) << 32) % bound);
  uint64_t redrawn = 0;
  while (!indices.empty()) {
    const size_t count = std::min(block, indices.size());
    alignas(16) uint32_t words[block] = {};
    draw_words(std::span(words, count));
    size_t taken = 0;
    if (count == block && map_block(words, uint32_t(bound), min, indices.data())) {
      taken = block;
    } else {
      for (size_t i = 0; i < count; ++i) {
        const uint64_t product = words[i] * bound;
        indices[taken] = uint32_t(product >> 32);
        taken += uint32_t(product) >= min ? 1 : 0;
      }
    }
    redrawn += count - taken;
    indices = indices.subspan(taken);
  }
  return redrawn;
}

}  // namespace tx
