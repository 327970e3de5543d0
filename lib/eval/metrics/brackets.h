// Labelled bracketing F1 of constituency trees (PARSEVAL), by the rules of EVALB and its parameter
// file for the Penn Treebank, with which parsing is usually scored.
//
// A tree is a line of tokens: "(LABEL" opens a constituent, ")" closes the last one open; ")LABEL",
// as linearised trees have it, closes one of that label. "(TAG word)" is a tagged word, a token
// outside parentheses an untagged one. An outermost pair without a label, "( (S ...) )", is read as
// TOP.
//   - words tagged TOP, ROOT, S1, -NONE-, comma, :, ``, '' or . are left out, and constituents that
//     hold no other word
//   - constituents of these labels do not count
//   - of a label only what stands before its first - or = counts (NP-SBJ is NP); PRT is ADVP
//   - a constituent is its label, its first and its last word; equal ones match once each
//   - a segment whose trees have no other word is left out
// Recall = matched / those of the references, precision = matched / those of the hypotheses. ROOT
// and S1, which other parameter files of EVALB have, are the one addition to COLLINS.prm.
//
// A hypothesis is malformed where its parentheses do not balance, a closing label is not that of
// the constituent, or its number of words is not the reference's. It then has no constituents, and
// those of the reference are missed; EVALB leaves such segments out (skip_malformed). Unlike
// EVALB, words are only counted, not compared, since linearised trees do not hold them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "lib/eval/metrics/metric.h"
#include "lib/eval/tokenizers/unicode.h"

namespace tx {

struct BracketOptions {
  bool skip_malformed = false;
};

// The constituents of one tree that count.
struct Brackets {
  struct Span {
    std::string_view label;  // part of the line
    int begin, end;          // words [begin, end)
    auto operator<=>(const Span&) const = default;
  };
  std::vector<Span> spans;
  int words = 0;      // that count
  std::string error;  // why the line is not a tree; empty where it is one
};

class BracketReader {
 public:
  // The line must live as long as the result.
  void read(std::string_view line, Brackets& brackets);

 private:
  struct Open {
    std::string_view label;
    int begin;         // words before it that count
    int children = 0;  // constituents and words inside, left out ones too
    bool constituents = false;
  };
  void open(std::string_view label, Brackets& brackets);
  void close(std::string_view label, Brackets& brackets);
  void add_word(Brackets& brackets);

  std::vector<Open> open_;
  bool complete_ = false;  // the outermost constituent has been closed
};

class BracketF1 : public Metric {
 public:
  explicit BracketF1(const BracketOptions& options) : options_(options) {}
  std::string name() const override { return "F1"; }
  std::string settings() const override;
  std::string version() const override;  // "tx-0.1.0": sacreBLEU has no such score
  // matched, hypothesis, reference: constituents; complete: segments without an error; segments;
  // malformed: segments
  std::vector<std::string> columns() const override;
  // One reference. Throws DataError where it is not a tree.
  void add(std::string_view hypothesis, std::span<const std::string> references,
           std::span<double> sums) override;
  Score score(std::span<const double> sums) const override;
  double value(std::span<const double> sums) const override;
  double value(std::span<const float> sums) const override;
  bool single_precision() const override { return false; }

 private:
  BracketOptions options_;
  BracketReader reader_;
  Brackets hypothesis_, reference_;
};

}  // namespace tx
