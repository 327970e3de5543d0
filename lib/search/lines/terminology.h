// A glossary: how terms are translated. A line is translated as ever. Where its output lacks a
// term, the search begins again with what the output has before the words that the term is aligned
// to, followed by the translation of the term, and continues from there.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/search/lines/markup.h"
#include "lib/subword/vocabulary.h"

namespace tx {

class Terminology {
 public:
  // A term of a source.
  struct Term {
    int64_t first = 0, last = 0;  // its tokens: [first, last)
    // An output must contain one of these as whole words; missing ones get the first. As the
    // vocabulary of outputs writes them; none: it cannot.
    std::vector<std::string> forms;
  };

  // Reads lines TERM, a tab, FORM|FORM..., and maybe a tab and a text that the line must contain.
  // DataError with file and line for others. IoError if it cannot be read.
  explicit Terminology(const std::string& path);

  // The terms that occur in a text as whole words, in order; of those that overlap the first, of
  // those that begin together the longest. An occurrence may have capitals that the term lacks; if
  // it has only capitals, so have the forms.
  std::vector<Term> terms_of(std::string_view text, const Vocabulary& source,
                             const Vocabulary& target) const;

 private:
  struct Entry {
    std::string term, context;  // context: in lower case
    std::vector<std::string> forms;
  };
  const Entry* find(const std::string& key, std::string_view span,
                    std::string_view lower_text) const;

  std::unordered_map<std::string, std::vector<Entry>> entries_;  // by term in lower case
  std::vector<size_t> lengths_;                                  // of these keys, descending
};

// Whether an output contains a form of the term, its first letter maybe a capital.
bool contains(std::string_view output, const Terminology::Term& term);

// What an output must begin with to have one more of the terms that it lacks; "": there are none.
// `kept` bytes of the output are not changed. tokens: see Markup::put_back().
std::string corrected_prefix(std::string_view output, std::span<const Terminology::Term> terms,
                             std::span<const Markup::Token> tokens, size_t kept);

}  // namespace tx
