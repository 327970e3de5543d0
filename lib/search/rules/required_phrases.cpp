#include "lib/search/rules/required_phrases.h"

#include <algorithm>
#include <cctype>

namespace tx {

namespace {

// A letter or a digit at its front, as far as bytes tell, and no space before it.
bool continues_word(const Vocabulary& vocabulary, int id) {
  constexpr std::string_view space_sign = "\u2581";
  if (vocabulary.kind() == "words" || id < Vocabulary::specials) return false;
  const std::string piece = vocabulary.piece(id);
  if (piece.empty() || piece.starts_with(space_sign)) return false;
  const int first =
      vocabulary.is_byte(id) ? std::stoi(piece.substr(3, 2), nullptr, 16) : int(uint8_t(piece[0]));
  return first >= 0x80 || std::isalnum(first);
}

}  // namespace

RequiredPhrases::RequiredPhrases(const Vocabulary& vocabulary) {
  for (int id = 0; id < vocabulary.size(); ++id) goes_on_.push_back(continues_word(vocabulary, id));
}

size_t RequiredPhrases::come(std::span<const int> pieces, std::span<const int> phrase) const {
  for (size_t end = phrase.size(); end <= pieces.size(); ++end) {
    if (end < pieces.size() && goes_on_[size_t(pieces[end])]) continue;
    if (std::ranges::equal(pieces.subspan(end - phrase.size(), phrase.size()), phrase))
      return phrase.size();
  }
  size_t begun = std::min(pieces.size(), phrase.size() - 1);
  while (!std::ranges::equal(pieces.last(begun), phrase.first(begun))) --begun;
  return begun;
}

bool RequiredPhrases::allows(const OpenOutput& output, int piece) const {
  if (piece != Vocabulary::eos || !output.source) return true;
  return std::ranges::all_of(output.source->phrases, [&](const std::vector<int>& phrase) {
    return come(output.pieces, phrase) == phrase.size();
  });
}

void RequiredPhrases::wishes(const OpenOutput& output, std::vector<int>& pieces) const {
  if (!output.source) return;
  for (const std::vector<int>& phrase : output.source->phrases) {
    const size_t at = come(output.pieces, phrase);
    if (at < phrase.size() && !std::ranges::count(pieces, phrase[at])) pieces.push_back(phrase[at]);
  }
}

// Of the phrases that have only begun the longest beginning counts: one goes on.
int64_t RequiredPhrases::met(const OpenOutput& output) const {
  if (!output.source) return 0;
  size_t whole = 0, begun = 0;
  for (const std::vector<int>& phrase : output.source->phrases) {
    const size_t at = come(output.pieces, phrase);
    if (at == phrase.size())
      whole += at;
    else
      begun = std::max(begun, at);
  }
  return int64_t(whole + begun);
}

}  // namespace tx
