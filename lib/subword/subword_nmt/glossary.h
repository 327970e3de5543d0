// Parts of words that subword-nmt's codes must leave alone: names, tags, placeholders.
#pragma once
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

// Each entry is a text, or a regular expression in ECMAScript's syntax (subword-nmt takes Python's,
// which is the same for characters, classes, repetition, | and (?:...)) over code points.
class Glossary {
 public:
  // Expressions are not searched for in words of more characters, since the search recurses.
  static constexpr size_t longest_word = 1000;
  // The longest expression, in bytes: parsing one recurses, too.
  static constexpr size_t longest_expression = 4000;

  Glossary() = default;
  // An expression that is malformed, too long, has a capturing group or matches the empty text:
  // UsageError.
  explicit Glossary(const std::vector<std::string>& entries);

  bool empty() const { return entries_.empty(); }
  // Whether the whole word is an entry.
  bool holds(std::string_view word) const;
  // Splits the word before and after each match, one entry after another. Joined, the parts are the
  // word again.
  std::vector<std::string> isolate(std::string_view word) const;

 private:
  struct Entry {
    std::string text;        // of a plain entry, else empty
    std::wregex expression;  // what subword-nmt builds from the entry E: E,
    std::wregex whole;       // ^(E)$
    std::wregex loose;       // and ^E$, where a bare | reaches the ends
  };
  static Entry compile(const std::string& pattern);
  static void isolate(const Entry& entry, const std::string& word, std::vector<std::string>& out);

  std::vector<Entry> entries_;
};

}  // namespace tx
