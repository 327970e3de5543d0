#include "lib/search/rules/make_rules.h"

#include "lib/search/rules/forbidden_phrases.h"
#include "lib/search/rules/repetition.h"
#include "lib/search/rules/required_phrases.h"
#include "lib/search/rules/utf8_guard.h"

namespace tx {

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
