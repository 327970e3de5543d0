// Words and phrases that may not come: the sequences of tokens that a vocabulary cuts them into. A
// sequence begins as a word does, so that "art" does not forbid "cart"; where it is the beginning
// of a longer word that is cut the same way, that word is forbidden too.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/search/rules/rule.h"
#include "lib/subword/vocabulary.h"

namespace tx {

class ForbiddenPhrases : public Rule {
 public:
  ForbiddenPhrases(const std::vector<std::string>& phrases, const Vocabulary& vocabulary);
  bool allows(const OpenOutput& output, int token) const override;

 private:
  // By the last token of a phrase, what comes before.
  std::unordered_map<int, std::vector<std::vector<int>>> before_;
};

// The lines of a file that are not blank.
std::vector<std::string> read_phrases(const std::string& path);

}  // namespace tx
