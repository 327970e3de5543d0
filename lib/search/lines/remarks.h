// States of a line and its translation (tx-status(5)); warnings about suspicious outputs.
#pragma once
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/search/lines/lines.h"

namespace tx {

// Whether the same tokens come at least three times in a row, at least eight tokens in all.
bool has_loop(std::span<const uint64_t> tokens);

// Whether both texts end in the same `words` words.
bool ends_alike(std::string_view a, std::string_view b, int words = 5);

// States of the line ("empty", "replaced", "cut", "unknown") and of its first output: "maximum",
// "unmet" (it lacks a required phrase), "loop", "copy". The last three are not checked for a given
// output (Source::target) or an encoder's, and "copy" is not for that of a language model.
std::vector<std::string> states_of(const Line& line, const Source& source,
                                   const TokenHypothesis& best, const ModelSet& models,
                                   const Rules& rules);

// Counts suspicious outputs. Not thread-safe.
class Remarks {
 public:
  void add(int64_t line, const std::vector<std::string>& states);
  // Logs one message for each state that occurred, with its count and first line; none when quiet.
  void report(const Log& log) const;

 private:
  struct Count {
    int64_t lines = 0, first = 0;
  };
  Count maximum_, unmet_, loop_, copy_;
};

}  // namespace tx
