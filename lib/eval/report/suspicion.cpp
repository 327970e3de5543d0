#include "lib/eval/report/suspicion.h"

#include "lib/base/figure.h"

namespace tx {

void Suspicion::look_at(std::string_view hypothesis) {
  ++lines_;
  if (hypothesis.find("@@ ") != std::string_view::npos || hypothesis.ends_with("@@")) {
    joiners_.note(lines_);
  }
  if (hypothesis.find("\xE2\x96\x81") != std::string_view::npos) space_signs_.note(lines_);
  if (hypothesis.ends_with(" .")) tokens_.note(lines_);
}

void Suspicion::warn(const Log& log, const std::string& name, bool tokens_matter) const {
  const auto say = [&](const Sign& sign, const std::string& what, const std::string& remedy) {
    log.warn(name + ": " + std::to_string(sign.lines) + " of " + counted(lines_, "line") + " " +
             what + ", the first is line " + std::to_string(sign.first) + "; " + remedy);
  };
  if (joiners_.lines > 0) {
    say(joiners_, "hold \"@@\", as subwords that were not joined do",
        "join them with sed 's/@@ //g' before scoring");
  }
  if (space_signs_.lines > 0) {
    say(space_signs_, "hold U+2581, as tokens of a subword model that were not joined do",
        "join them with tx-bpe decode before scoring");
  }
  // Every long text has a few such lines.
  const bool many = (tokens_.lines >= 100 && 10 * tokens_.lines >= lines_) ||
                    (lines_ >= 10 && 2 * tokens_.lines >= lines_);
  if (tokens_matter && many) {
    say(tokens_, "end in a full stop after a space, as tokenised text does",
        "score the text as people write it, or add --force if this is how they do");
  }
}

}  // namespace tx
