// Hypotheses that are not the text people read: pieces of a subword model that were not joined, or
// tokens. Their scores are not those of the text and cannot be compared with published ones.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/log.h"

namespace tx {

class Suspicion {
 public:
  void look_at(std::string_view hypothesis);
  // Warnings about the file `name`. Tokens matter to tokenisers that expect none.
  void warn(const Log& log, const std::string& name, bool tokens_matter) const;

 private:
  struct Sign {
    int64_t lines = 0, first = 0;
    void note(int64_t line) {
      if (lines++ == 0) first = line;
    }
  };
  Sign joiners_, space_signs_, tokens_;  // "@@ ", U+2581, " ." at the end
  int64_t lines_ = 0;
};

}  // namespace tx
