// The states of a line and its translation (tx-status(5)), and
// warnings about suspicious outputs.
#pragma once
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/search/lines/lines.h"

namespace tx {

// Whether a sequence ends in the same tokens over and over: three times at least, and eight tokens
// in all.
bool ends_in_loop(std::span<const int> ids);

// Whether both texts end in the same `words` words.
bool ends_alike(std::string_view a, std::string_view b, int words = 5);

// "empty", "replaced", "cut" (the line's), "maximum", "unmet", "loop", "copy" (its first output's),
// or none. "unmet": it lacks a phrase of the source, by the rules of the search. An output that was
// given (Source::target) is not asked for the last three, one that continues a text not for the
// last.
std::vector<std::string> states_of(const Line& line, const Source& source,
                                   const TokenHypothesis& best, const ModelSet& models,
                                   const Rules& rules);

// Counts suspicious outputs. Not thread-safe.
class Remarks {
 public:
  void add(int64_t line, const std::vector<std::string>& states);
  // One line for each state that occurred, with its count and first line; none when quiet.
  void tell(const Log& log) const;

 private:
  struct Count {
    int64_t lines = 0, first = 0;
  };
  Count maximum_, unmet_, loop_, copy_;
};

}  // namespace tx
