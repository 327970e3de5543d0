// Recognises hypotheses that are not text as people read it: tokens of a subword model that were
// not joined, or tokens. Their scores cannot be compared with published ones.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/log.h"

namespace tx {

class Suspicion {
 public:
  void look_at(std::string_view hypothesis);
  // Warnings about the file `name`. tokens_matter: the tokeniser expects text that is not
  // tokenised.
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
