// Bracketed trees: the constituents that EVALB counts with COLLINS.prm, its parameter file for the
// Penn Treebank.
//
// A tree is a line of tokens: "(LABEL" opens a constituent, ")" closes the innermost one; ")LABEL",
// in linearised trees, closes one with that label. "(TAG word)" is a tagged word, a token outside
// parentheses an untagged one. An outermost pair without a label, "( (S ...) )", is read as TOP.
//   - words tagged TOP, ROOT, S1, -NONE-, comma, :, ``, '' or . are ignored
//   - constituents without other words are ignored
//   - constituents labelled with one of these tags are ignored
//   - a label is cut at its first - or = (NP-SBJ is NP); PRT is ADVP
// ROOT and S1, from other parameter files of EVALB, are the only addition to COLLINS.prm.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tx {

// The words and constituents of one tree that are scored: those that are not ignored.
struct Brackets {
  struct Span {
    std::string_view label;  // part of the line
    int begin, end;          // words [begin, end)
    auto operator<=>(const Span&) const = default;
  };
  std::vector<Span> spans;
  int words = 0;      // scored words
  std::string error;  // why the line is not a tree; empty if it is one
};

class BracketReader {
 public:
  // The result refers to the line.
  void read(std::string_view line, Brackets& brackets);

 private:
  struct Open {
    std::string_view label;
    int begin;         // scored words before it
    int children = 0;  // constituents and words inside, including ignored ones
    bool constituents = false;
  };
  void open(std::string_view label, Brackets& brackets);
  void close(std::string_view label, Brackets& brackets);
  void add_word(Brackets& brackets);

  std::vector<Open> open_;
  bool complete_ = false;  // the outermost constituent has been closed
};

}  // namespace tx
