#include "lib/search/rules/required_phrases.h"

#include <algorithm>
#include <cctype>

namespace tx {

namespace {

// A letter or a digit at its front, as far as bytes tell, and no space before it.
bool continues_word(const Vocabulary& vocabulary, int id) {
  constexpr std::string_view space_sign = "\u2581";
  if (vocabulary.kind() == "words" || id < Vocabulary::specials) return false;
  const std::string token = vocabulary.token(id);
  if (token.empty() || token.starts_with(space_sign)) return false;
  const int first =
      vocabulary.is_byte(id) ? std::stoi(token.substr(3, 2), nullptr, 16) : int(uint8_t(token[0]));
  return first >= 0x80 || std::isalnum(first);
}

}  // namespace

RequiredPhrases::RequiredPhrases(const Vocabulary& vocabulary) {
  for (int id = 0; id < vocabulary.size(); ++id) goes_on_.push_back(continues_word(vocabulary, id));
}

size_t RequiredPhrases::come(std::span<const int> tokens, std::span<const int> phrase) const {
  for (size_t end = phrase.size(); end <= tokens.size(); ++end) {
    if (end < tokens.size() && goes_on_[size_t(tokens[end])]) continue;
    if (std::ranges::equal(tokens.subspan(end - phrase.size(), phrase.size()), phrase))
      return phrase.size();
  }
  size_t begun = std::min(tokens.size(), phrase.size() - 1);
  while (!std::ranges::equal(tokens.last(begun), phrase.first(begun))) --begun;
  return begun;
}

bool RequiredPhrases::allows(const OpenOutput& output, int token) const {
  if (token != Vocabulary::eos || !output.source) return true;
  return std::ranges::all_of(output.source->phrases, [&](const std::vector<int>& phrase) {
    return come(output.tokens, phrase) == phrase.size();
  });
}

void RequiredPhrases::wishes(const OpenOutput& output, std::vector<int>& tokens) const {
  if (!output.source) return;
  for (const std::vector<int>& phrase : output.source->phrases) {
    const size_t at = come(output.tokens, phrase);
    if (at < phrase.size() && !std::ranges::count(tokens, phrase[at])) tokens.push_back(phrase[at]);
  }
}

// Of the phrases that have only begun the longest beginning counts: one goes on.
int64_t RequiredPhrases::met(const OpenOutput& output) const {
  if (!output.source) return 0;
  size_t whole = 0, begun = 0;
  for (const std::vector<int>& phrase : output.source->phrases) {
    const size_t at = come(output.tokens, phrase);
    if (at == phrase.size())
      whole += at;
    else
      begun = std::max(begun, at);
  }
  return int64_t(whole + begun);
}

}  // namespace tx
