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
  std::vector<std::string> words;     // their text; for a special token its name
  size_t size() const { return words.size(); }
  bool operator==(const WordGroups&) const = default;
};

// In a subword model a word begins after white space: tokens of white space belong to the following
// word, at the end to the last one. In a list of words every token is a word, but one that ends in
// "@@" (subword-nmt) continues in the next. Special tokens are separate words.
WordGroups group_words(const Vocabulary& vocabulary, std::span<const int> ids);

// The properties of a token that determine words.
struct WordSigns {
  bool special = false;
  bool space = false;   // begins with white space
  bool spaces = false;  // consists of white space
  bool joins = false;   // ends in "@@"
  bool byte = false;    // a byte token, and its byte
  char value = 0;
};

// The starts of words without their text, from a table of all tokens. Thread-safe.
class WordStarts {
 public:
  explicit WordStarts(const Vocabulary& vocabulary);
  // As WordGroups::starts.
  std::vector<int64_t> operator()(std::span<const int> ids) const;

 private:
  bool subwords_;
  std::vector<WordSigns> signs_;  // by id
};

}  // namespace tx
