#include "lib/search/rules/forbidden_phrases.h"

#include <algorithm>

#include "lib/text/corpus.h"

namespace tx {

ForbiddenPhrases::ForbiddenPhrases(const std::vector<std::string>& phrases,
                                   const Vocabulary& vocabulary) {
  std::vector<int> ids;
  for (const std::string& phrase : phrases) {
    vocabulary.encode(phrase, ids);
    // A word that a list of words does not hold is never output.
    if (ids.empty() || std::ranges::count(ids, int(Vocabulary::unk))) continue;
    const int last = ids.back();
    ids.pop_back();
    before_[last].push_back(ids);
  }
}

bool ForbiddenPhrases::allows(const OpenOutput& output, int token) const {
  const auto found = before_.find(token);
  if (found == before_.end()) return true;
  return std::ranges::none_of(found->second, [&](const std::vector<int>& before) {
    return before.size() <= output.tokens.size() &&
           std::ranges::equal(output.tokens.last(before.size()), before);
  });
}

std::vector<std::string> read_phrases(const std::string& path) {
  TextReader reader({path});
  std::vector<std::string> phrases;
  for (std::string line; reader.next(line);) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
    line.erase(0, line.find_first_not_of(' '));
    if (!line.empty()) phrases.push_back(line);
  }
  return phrases;
}

}  // namespace tx
