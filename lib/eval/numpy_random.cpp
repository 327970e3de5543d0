#include "lib/eval/numpy_random.h"

#include <array>

namespace tx {
namespace {

// SeedSequence: the seed's words are hashed into a pool of four, the pool into the generator's
// state. Its hash takes another constant at each use.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t seed) {
    const std::array<uint32_t, 4> words = {uint32_t(seed), uint32_t(seed >> 32), 0, 0};
    for (size_t i = 0; i < pool_.size(); ++i) pool_[i] = hash(words[i]);
    for (size_t from = 0; from < pool_.size(); ++from) {
      for (size_t to = 0; to < pool_.size(); ++to) {
        if (from != to) pool_[to] = mix(pool_[to], hash(pool_[from]));
      }
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

}  // namespace

NumpyRandom::NumpyRandom(uint64_t seed) {
  const std::array<uint64_t, 4> words = SeedSequence(seed).state();
  const auto join = [](uint64_t high, uint64_t low) { return uint128(high) << 64 | low; };
  increment_ = join(words[2], words[3]) << 1 | 1;
  step();
  state_ += join(words[0], words[1]);
  step();
}

void NumpyRandom::step() {
  constexpr uint64_t high = 2549297995355413924u, low = 4865540595714422341u;
  state_ = state_ * (uint128(high) << 64 | low) + increment_;
}

uint64_t NumpyRandom::next64() {
  step();
  const uint64_t folded = uint64_t(state_ >> 64) ^ uint64_t(state_);
  const auto turn = unsigned(state_ >> 122);
  return folded >> turn | folded << (-turn & 63);
}

uint32_t NumpyRandom::next32() {
  has_half_ = !has_half_;
  if (!has_half_) return half_;
  const uint64_t both = next64();
  half_ = uint32_t(both >> 32);
  return uint32_t(both);
}

// Lemire's way: the upper half of a product, drawn again where some numbers would come more often.
uint32_t NumpyRandom::below(uint64_t bound) {
  uint64_t product = uint64_t(next32()) * bound;
  if (uint32_t(product) < bound) {
    const auto least = uint32_t((0x100000000u - bound) % bound);
    while (uint32_t(product) < least) product = uint64_t(next32()) * bound;
  }
  return uint32_t(product >> 32);
}

void NumpyRandom::draw_indices(std::span<uint32_t> indices, uint64_t bound) {
  for (uint32_t& index : indices) index = bound > 1 ? below(bound) : 0;
}

bool NumpyRandom::draw_bit() {
  if (bits_left_ == 0) {
    bits_ = next32();
    bits_left_ = 32;
  }
  const bool bit = (bits_ & 1) != 0;
  bits_ >>= 1;
  --bits_left_;
  return bit;
}

}  // namespace tx
