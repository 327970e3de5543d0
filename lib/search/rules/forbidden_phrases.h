// --forbid: blocks words and phrases as text, whatever tokens make them up.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "lib/search/rules/rule.h"
#include "lib/subword/vocabulary.h"

namespace tx {

// What a token adds to a text, with ASCII white space as one space. A word of a list ends with a
// space, unless it ends in "@@" (subword-nmt).
std::string text_of(const Vocabulary& vocabulary, int id);
// Whether words end before and after this character: marks, white space, scripts without spaces.
bool is_boundary(char32_t c);
// Whether boundaries of words lie on both sides of text[begin, end): the ends of the text, and
// characters that are no letter, digit or mark, or of a script without spaces.
bool is_whole(std::string_view text, size_t begin, size_t end);
// Whether `words`, not empty, stand so in a text.
bool contains_whole(std::string_view text, std::string_view words);

// An output never contains a phrase with a boundary of words on both sides: "art" does not block
// "cart" or "arts". A token is blocked if it begins after the phrase and shows that no
// letter continues its last word, so an output may always continue the word instead.
class ForbiddenPhrases : public Rule {
 public:
  // continues: outputs continue the source (language models); a phrase may begin in it.
  ForbiddenPhrases(const std::vector<std::string>& phrases, const Vocabulary& vocabulary,
                   bool continues = false);
  bool allows(const OpenOutput& output, int token) const override;

 private:
  struct Phrase {
    std::string text;
    bool opens;  // its first character is a boundary
  };
  // Most tokens are allowed or refused by these, without looking at the text.
  struct Token {
    std::string text;       // what it adds to the output
    bool opens = false;     // its first character is a boundary
    bool may_end = false;   // a phrase may end with its last character
    bool may_hold = false;  // a phrase may end in it and be followed by a boundary
  };
  // The end of an output, as long as any phrase. Its `forced` bytes may contain phrases.
  struct Tail {
    std::string text;
    size_t forced = 0;
  };
  void add(std::string_view phrase, const Vocabulary& vocabulary);
  // Whether a phrase ends at this byte of the text; partial: it may begin before the text.
  bool ends(std::string_view text, size_t end, bool partial) const;
  bool ends(const Tail& tail, size_t end) const {
    return end > tail.forced && ends(tail.text, end, false);
  }
  Tail tail_of(const OpenOutput& output) const;
  bool ends_in_phrase(const OpenOutput& output) const;
  bool holds_phrase(const OpenOutput& output, const Token& next, bool last) const;

  std::array<std::vector<Phrase>, 256> phrases_;  // by last byte
  size_t longest_ = 0;                            // bytes
  std::vector<Token> tokens_;                     // by id
  bool continues_;
};

}  // namespace tx
