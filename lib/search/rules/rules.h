// The rules that make_rules() chooses from.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "lib/search/rules/rule.h"
#include "lib/subword/vocabulary.h"

namespace tx {

class MinimumLength : public Rule {
 public:
  explicit MinimumLength(int tokens) : tokens_(tokens) {}
  bool allows(const OpenOutput& output, int token) const override {
    return token != Vocabulary::eos || int64_t(output.tokens.size()) >= tokens_;
  }

 private:
  int tokens_;
};

// The value of each byte token, and of any other -1; by id.
std::vector<int16_t> byte_values(const Vocabulary& vocabulary);

// The number of bytes that follow a first byte in UTF-8; 0 if no longer sequence begins with it.
inline int continuation_bytes(int byte) {
  return byte < 0xC2 || byte > 0xF4 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
}

// Blocks repeated n-grams of `length` tokens; the byte tokens of a character count as one.
class NoRepeat : public Rule {
 public:
  NoRepeat(int length, const Vocabulary& vocabulary)
      : length_(length), byte_of_(byte_values(vocabulary)) {}
  bool allows(const OpenOutput& output, int token) const override;

 private:
  int length_;  // at least 1
  std::vector<int16_t> byte_of_;
};

// The lines of a file that are not blank.
std::vector<std::string> read_phrases(const std::string& path);

// Required phrases (Post and Vilar, 2018): an output cannot end before it contains all of them, and
// the next token of each missing phrase is among the candidates. An output contains a phrase if its
// text does, in whole words and whatever tokens make it up.
class RequiredPhrases : public Rule {
 public:
  explicit RequiredPhrases(const Vocabulary& vocabulary);
  bool allows(const OpenOutput& output, int token) const override;
  void required_tokens(const OpenOutput& output, std::vector<int>& tokens) const override;
  int64_t fulfilled(const OpenOutput& output) const override;

 private:
  std::string text_of(std::span<const int> tokens) const;
  // The number of tokens of the phrase in an output with this text: all, or those of the longest
  // beginning of the phrase that the output ends with.
  size_t matched(std::string_view text, std::span<const int> tokens,
                 std::span<const int> phrase) const;
  std::vector<std::string> texts_;  // by token
};

// Source::ends_word.
class CompletePrefix : public Rule {
 public:
  explicit CompletePrefix(const Vocabulary& vocabulary);
  bool allows(const OpenOutput& output, int token) const override;

 private:
  std::vector<std::string> bytes_;  // by token
};

// Keeps outputs valid UTF-8 (Unicode, chapter 3, table 3-7) if the vocabulary has byte tokens.
// After the first byte of a sequence only bytes that continue it are allowed, no other token and no
// <eos>. A first byte is allowed only if its sequence fits into the tokens left.
class Utf8Guard : public Rule {
 public:
  // The number of bytes missing from an incomplete sequence, and the range of the next one.
  struct State {
    uint8_t lacking = 0, low = 0, high = 0;
  };

  Utf8Guard() = default;  // no byte tokens: allows everything
  explicit Utf8Guard(const Vocabulary& vocabulary);
  bool needed() const { return needed_; }  // whether it ever forbids a token

  bool allows(const OpenOutput& output, int token) const override {
    return allows(state_of(output.tokens), token, output.left);
  }
  // `left`: tokens that the output may still get after this one.
  bool allows(const State& state, int token, int64_t left) const {
    const int byte = byte_of_[size_t(token)];
    if (state.lacking > 0) return byte >= state.low && byte <= state.high;
    return byte < 0x80 || (continuation_bytes(byte) > 0 && continuation_bytes(byte) <= left);
  }
  State after(const State& state, int token) const;  // an allowed one
  // The state after `tokens`, which may include tokens of a prefix that are not allowed.
  State state_of(std::span<const int> tokens) const;

 private:
  std::vector<int16_t> byte_of_;  // by token; -1: not a byte token
  bool needed_ = false;
};

}  // namespace tx
