// Glossaries of subword-nmt: texts and regular expressions of Python's re, matched by PCRE2.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;

namespace tx {

// The expression for PCRE2 with UTF and UCP. UsageError: not supported; PCRE2 checks the rest.
std::string pcre2_syntax(std::string_view expression);

// Parts of words that are not segmented: names, tags, placeholders.
class Glossary {
 public:
  Glossary() = default;
  explicit Glossary(const std::vector<std::string>& entries);  // UsageError

  bool empty() const { return entries_.empty(); }
  // Whether the whole word is an entry. Thread-safe. DataError: it backtracks too often.
  bool holds(std::string_view word) const;
  // Splits the word before and after each match of each entry; the parts add up to the word.
  std::vector<std::string> isolate(std::string_view word) const;

 private:
  using Expression = std::shared_ptr<const pcre2_real_code_8>;
  struct Entry {
    std::string text;
    // Null: a plain text. E, and ^E$, which subword-nmt also uses: ^a|b$ matches words like "ax".
    Expression expression, loose;
    bool find(const Expression& code, std::string_view word, size_t& begin, size_t& end,
              uint32_t options) const;
  };
  static void isolate(const Entry& entry, const std::string& word, std::vector<std::string>& out);

  std::vector<Entry> entries_;
};

}  // namespace tx
