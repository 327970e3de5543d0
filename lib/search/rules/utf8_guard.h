// Which tokens may follow so that an output stays valid UTF-8. A vocabulary with byte tokens can
// spell any bytes; a search takes only those that can still become a well-formed sequence (Unicode,
// chapter 3, table 3-7): after a first byte only bytes that continue it, neither another token nor
// <eos>, and no first byte whose sequence would not fit into the tokens left.
#pragma once
#include <cstdint>
#include <vector>

#include "lib/search/rules/rule.h"
#include "lib/subword/vocabulary.h"

namespace tx {

class Utf8Guard : public Rule {
 public:
  // Where an output stands: how many bytes its open sequence lacks, and the range of the next one.
  struct State {
    uint8_t lacking = 0, low = 0, high = 0;
  };

  Utf8Guard() = default;  // no byte tokens: allows everything
  explicit Utf8Guard(const Vocabulary& vocabulary);
  // Whether it ever forbids a token.
  bool needed() const { return needed_; }

  bool allows(const OpenOutput& output, int token) const override {
    return allows(state_of(output.tokens), token, output.left);
  }
  // `left`: tokens that the output may still get after this one.
  bool allows(const State& state, int token, int64_t left) const {
    const int byte = byte_of_[size_t(token)];
    if (state.lacking > 0) return byte >= state.low && byte <= state.high;
    return byte < 0x80 || (continuations(byte) > 0 && continuations(byte) <= left);
  }
  // The state after an allowed token.
  State after(const State& state, int token) const;
  // The state after some tokens, of which a prefix may hold others than are allowed.
  State state_of(std::span<const int> tokens) const;

 private:
  // Bytes that follow a first byte; 0 where no sequence begins with it.
  static int continuations(int byte) {
    return byte < 0xC2 || byte > 0xF4 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
  }
  std::vector<int16_t> byte_of_;  // by token; -1: not a byte token
  bool needed_ = false;
};

}  // namespace tx
