// Rules about the length of an output and what it says twice, counted in pieces.
#pragma once
#include "lib/search/rules/rule.h"

namespace tx {

// No end before so many pieces.
class MinimumLength : public Rule {
 public:
  explicit MinimumLength(int pieces) : pieces_(pieces) {}
  bool allows(const OpenOutput& output, int piece) const override;

 private:
  int pieces_;
};

// The same `length` pieces in a row come once.
class NoRepeat : public Rule {
 public:
  explicit NoRepeat(int length) : length_(length) {}
  bool allows(const OpenOutput& output, int piece) const override;

 private:
  int length_;  // at least 1
};

}  // namespace tx
