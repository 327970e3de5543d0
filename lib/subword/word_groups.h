// Which tokens of a sentence make up each of its words.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/subword/vocabulary.h"

namespace tx {

// Word w is tokens starts[w] to starts[w + 1] - 1.
struct WordGroups {
  std::vector<int64_t> starts = {0};  // ascending, the number of tokens at the end
  std::vector<std::string> words;     // their text; of a special token its name
  size_t size() const { return words.size(); }
  bool operator==(const WordGroups&) const = default;
};

// In a subword model a word begins at a token that begins with the sign of a space, U+2581; signs
// alone belong to the word behind them. In a list of words every token is a word, but one that ends
// in "@@", as subword-nmt writes it, goes on in the next. Special tokens (<s>, </s>) are words of
// their own.
WordGroups group_words(const Vocabulary& vocabulary, std::span<const int> ids);

// How a token is written, as far as words are concerned.
struct PieceSigns {
  bool special = false;
  bool space = false;   // begins with U+2581
  bool spaces = false;  // holds nothing else
  bool joins = false;   // ends in "@@"
};

// The same words without their text, fast: what is asked of the vocabulary is asked once. May be
// shared between threads.
class WordStarts {
 public:
  explicit WordStarts(const Vocabulary& vocabulary);
  // As WordGroups::starts.
  std::vector<int64_t> operator()(std::span<const int> ids) const;

 private:
  bool subwords_;
  std::vector<PieceSigns> signs_;  // by id
};

}  // namespace tx
