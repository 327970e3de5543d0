// Markup: tags, placeholders and other parts of a line that its translation must contain unchanged,
// each exactly once. They are taken out of the line before it is translated and put back after it.
//
// A part without words, such as a tag, is put where the words around it are aligned to; the tags of
// a pair enclose what the words between them are aligned to, and pairs stay nested. A part that
// counts as a word, such as {name}, is translated as a stand-in that the model copies; where the
// output lacks it, it is placed by the alignment, too. Parts such as %s and %d, which take the next
// argument, keep their order.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/subword/tokenizer/expression.h"

namespace tx {

class Markup {
 public:
  enum class Role { open, close, alone, word };
  struct Part {
    std::string text;
    Role role = Role::alone;
    size_t at = 0;         // where it was, in Line::text
    int64_t token = 0;     // the number of tokens of Line::text before it, which the caller sets
    size_t partner = 0;    // of a tag: the other tag of the pair
    std::string stand_in;  // of a word: what Line::text has in its place
    bool gap_before = false, gap_after = false;  // white space or an end of the line
    bool apart = false;  // no tag, and no letter or digit next to it: then in its new place neither
    bool in_order = false;  // printf: its argument is the next one, so that it keeps its place
  };
  struct Line {
    std::string text;  // without the parts
    std::vector<Part> parts;
    int64_t tokens = 0;            // of the text, which the caller sets
    bool lacks_stand_ins = false;  // a part that counts as a word has none
    bool special = false;          // html: the text has < or & that belong to no part
  };
  // A token of the output: the bytes of its text, and the token of the source that it is aligned
  // to; -1: none.
  struct Token {
    size_t begin, end;
    int64_t source;
  };

  // html (and XML), printf, icu, or the name of a file of regular expressions, one per line. URLs
  // and e-mail addresses are parts in any case. DataError with file and line for an expression that
  // is malformed or matches any text.
  explicit Markup(const std::string& kind);

  // The line without its parts. Different parts that are words get different stand-ins, as long as
  // there are any that the line does not contain; further ones are taken out like tags.
  Line take(std::string_view line, std::span<const std::string> stand_ins) const;
  // Whether the place of a part depends on the alignment: not that of a word whose stand-in the
  // output has, nor what begins, ends or encloses the line.
  bool needs_alignment(const Line& line, std::string_view output) const;
  // The output with the parts of the line. `tokens` are those of the output, in order; none unless
  // needs_alignment().
  std::string put_back(const Line& line, std::string_view output,
                       std::span<const Token> tokens) const;
  // All parts of a text, sorted: those of a line and of its translation are the same.
  std::vector<std::string> parts_of(std::string_view text) const;

 private:
  class Placement;
  bool html_ = false, printf_ = false;
  Expression expression_;
};

bool is_letter_or_digit(char32_t c);
// Whether a word goes on across text[at].
bool is_inside_word(std::string_view text, size_t at);
// The nearest place that is not within a word or character, to the left or right.
size_t outside_words(std::string_view text, size_t at, bool left);
// The places of a word in a text: not within other words, but with further letters behind it.
std::vector<size_t> places_of_word(std::string_view word, std::string_view text);

// The stand-ins that a translator copies, best first: words, names and numbers between frequent
// words of its vocabulary. translate(): the translations of some texts, in order.
std::vector<std::string> find_stand_ins(
    const std::vector<std::string>& frequent_words,
    const std::function<std::vector<std::string>(const std::vector<std::string>&)>& translate);

}  // namespace tx
