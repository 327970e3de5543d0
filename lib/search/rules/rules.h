// The rules that make_rules() chooses from.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/search/rules/rule.h"
#include "lib/subword/vocabulary.h"

namespace tx {

// Minimum length of an output.
class MinimumLength : public Rule {
 public:
  explicit MinimumLength(int tokens) : tokens_(tokens) {}
  bool allows(const OpenOutput& output, int token) const override;

 private:
  int tokens_;
};

// Blocks repeated n-grams of `length` tokens.
class NoRepeat : public Rule {
 public:
  explicit NoRepeat(int length) : length_(length) {}
  bool allows(const OpenOutput& output, int token) const override;

 private:
  int length_;  // at least 1
};

// Blocks words and phrases, as the sequences of tokens into which the vocabulary splits them. A
// sequence begins a word, so that "art" does not block "cart"; a longer word that begins with the
// same tokens is blocked, too.
class ForbiddenPhrases : public Rule {
 public:
  ForbiddenPhrases(const std::vector<std::string>& phrases, const Vocabulary& vocabulary);
  bool allows(const OpenOutput& output, int token) const override;

 private:
  // The tokens before the last one of a phrase, by the last.
  std::unordered_map<int, std::vector<std::vector<int>>> before_;
};

// The lines of a file that are not blank.
std::vector<std::string> read_phrases(const std::string& path);

// Required phrases (Post and Vilar, 2018): an output cannot end before it contains all of them, and
// the next token of each missing one is among the candidates. A phrase is contained where its
// tokens are in the output and the token after them does not continue its last word.
class RequiredPhrases : public Rule {
 public:
  explicit RequiredPhrases(const Vocabulary& vocabulary);
  bool allows(const OpenOutput& output, int token) const override;
  void required_tokens(const OpenOutput& output, std::vector<int>& tokens) const override;
  int64_t fulfilled(const OpenOutput& output) const override;

 private:
  // How many tokens of the phrase the output has: all, or a beginning of it at the output's end.
  size_t come(std::span<const int> tokens, std::span<const int> phrase) const;
  std::vector<bool> continues_word_;  // by token: whether it continues a word
};

// Keeps outputs valid UTF-8. A vocabulary with byte tokens can
// spell any bytes; a search takes only those that can still become a well-formed sequence (Unicode,
// chapter 3, table 3-7): after a first byte only bytes that continue it, neither another token nor
// <eos>, and no first byte whose sequence would not fit into the tokens left.
class Utf8Guard : public Rule {
 public:
  // The bytes that an open sequence lacks, and the range of the next one.
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
