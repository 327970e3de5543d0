#include "lib/search/rules/rule.h"

#include <algorithm>

#include "lib/search/rules/forbidden_phrases.h"
#include "lib/search/rules/required_phrases.h"
#include "lib/search/rules/utf8_guard.h"

namespace tx {

bool MinimumLength::allows(const OpenOutput& output, int token) const {
  return token != Vocabulary::eos || int64_t(output.tokens.size()) >= tokens_;
}

bool NoRepeat::allows(const OpenOutput& output, int token) const {
  const std::span<const int> tokens = output.tokens;
  const size_t before = size_t(length_) - 1;  // tokens that stand in front of the one at hand
  if (token == Vocabulary::eos || tokens.size() <= before) return true;
  const std::span<const int> tail = tokens.last(before);
  for (size_t i = before; i < tokens.size(); ++i) {
    if (tokens[i] == token && std::ranges::equal(tokens.subspan(i - before, before), tail))
      return false;
  }
  return true;
}

Rules make_rules(const SearchOptions& options, const Vocabulary& vocabulary) {
  Rules rules;
  const auto guard = std::make_shared<Utf8Guard>(vocabulary);
  if (guard->needed()) rules.add(guard);
  if (options.min_length > 0) rules.add(std::make_shared<MinimumLength>(options.min_length));
  if (options.no_repeat > 0) rules.add(std::make_shared<NoRepeat>(options.no_repeat));
  if (!options.forbid.empty())
    rules.add(std::make_shared<ForbiddenPhrases>(read_phrases(options.forbid), vocabulary));
  if (options.constraints) rules.add(std::make_shared<RequiredPhrases>(vocabulary));
  return rules;
}

}  // namespace tx
