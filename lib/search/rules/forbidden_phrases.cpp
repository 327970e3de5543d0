#include "lib/search/rules/forbidden_phrases.h"

#include <algorithm>

#include "lib/base/utf8.h"

namespace tx {
namespace {

// Thai, Lao, Myanmar, Khmer, kana and Chinese characters.
bool of_script_without_spaces(char32_t c) {
  constexpr std::pair<char32_t, char32_t> ranges[] = {
      {0xE00, 0xEFF},   {0x1000, 0x109F}, {0x1780, 0x17FF}, {0x3005, 0x30FF},   {0x31F0, 0x31FF},
      {0x3400, 0x9FFF}, {0xF900, 0xFAFF}, {0xFF66, 0xFF9F}, {0x1B000, 0x1B16F}, {0x20000, 0x3FFFF}};
  return std::ranges::any_of(ranges, [&](auto r) { return c >= r.first && c <= r.second; });
}

// The size of the text without an incomplete character at its end.
size_t complete_size(std::string_view text) {
  if (text.empty()) return 0;
  const size_t at = last_character(text);
  const auto lead = uint8_t(text[at]);
  const size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return text.size() - at < size ? at : text.size();
}

// Appends `more` with ASCII white space as one space.
void append_spaced(std::string& text, std::string_view more) {
  for (const char c : more) {
    if (c != ' ' && (c < '\t' || c > '\r'))
      text += c;
    else if (!text.ends_with(' '))
      text += ' ';
  }
}

constexpr std::string_view joiner = "@@";

}  // namespace

bool is_boundary(char32_t c) {
  const CharacterClass kind = class_of(c);
  return kind == CharacterClass::punctuation || kind == CharacterClass::symbol ||
         is_white_space(c) || of_script_without_spaces(c);
}

std::string text_of(const Vocabulary& vocabulary, int id) {
  std::string text;
  if (vocabulary.kind() != "words") {
    append_spaced(text, vocabulary.token_bytes(id));
  } else if (id == Vocabulary::unk || id >= Vocabulary::specials) {
    text = vocabulary.token(id);
    if (text.size() > joiner.size() && text.ends_with(joiner))
      text.resize(text.size() - joiner.size());
    else
      text += ' ';
  }
  return text;
}

bool is_whole(std::string_view text, size_t begin, size_t end) {
  const auto ends_a_word = [&](char32_t inside, size_t at) {
    return is_boundary(inside) || is_boundary(first_code_point(text.substr(at)));
  };
  const bool opens = begin == 0 || ends_a_word(last_code_point(text.substr(0, begin)), begin);
  if (!opens || end == text.size()) return opens;
  const std::string_view inside = text.substr(0, end);
  return end < complete_size(text) && ends_a_word(last_code_point(inside), end);
}

bool contains_whole(std::string_view text, std::string_view words) {
  for (size_t at = 0; (at = text.find(words, at)) != text.npos; ++at)
    if (is_whole(text, at, at + words.size())) return true;
  return false;
}

ForbiddenPhrases::ForbiddenPhrases(const std::vector<std::string>& phrases,
                                   const Vocabulary& vocabulary, bool continues)
    : continues_(continues) {
  std::vector<int> ids;
  for (const std::string& phrase : phrases) {
    add(phrase, vocabulary);
    // Outputs are in the vocabulary's normalisation.
    vocabulary.encode(phrase, ids);
    if (std::ranges::count(ids, int(Vocabulary::unk)) == 0) add(vocabulary.decode(ids), vocabulary);
  }
  for (int id = 0; id < vocabulary.size(); ++id) {
    Token& token = tokens_.emplace_back();
    token.text = text_of(vocabulary, id);
    const std::string_view text = token.text;
    token.may_end = text.empty() || ends(text, text.size(), true);
    if (text.empty()) continue;
    token.may_hold = count_invalid_utf8(text) > 0;
    if (token.may_hold) continue;
    token.opens = is_boundary(first_code_point(text));
    for (size_t at = 0; at < text.size() && !token.may_hold;) {
      const size_t begin = at;
      if (!is_boundary(next_code_point(text, at))) continue;
      token.may_hold = (begin > 0 && ends(text, begin, true)) || ends(text, at, true);
    }
  }
}

void ForbiddenPhrases::add(std::string_view phrase, const Vocabulary& vocabulary) {
  std::string text;
  append_spaced(text, phrase);
  if (vocabulary.kind() == "words")
    for (size_t at; (at = text.find(std::string(joiner) + " ")) != text.npos;)
      text.erase(at, joiner.size() + 1);
  while (text.ends_with(' ')) text.pop_back();
  text.erase(0, text.find_first_not_of(' '));
  if (text.empty()) return;
  std::vector<Phrase>& like = phrases_[uint8_t(text.back())];
  if (std::ranges::count(like, text, &Phrase::text)) return;
  longest_ = std::max(longest_, text.size());
  like.push_back({text, is_boundary(first_code_point(text))});
}

bool ForbiddenPhrases::ends(std::string_view text, size_t end, bool partial) const {
  text = text.substr(0, end);
  if (text.empty()) return false;
  for (const Phrase& phrase : phrases_[uint8_t(text.back())]) {
    if (text.size() < phrase.text.size()) {
      if (partial && std::string_view(phrase.text).ends_with(text)) return true;
    } else if (text.ends_with(phrase.text)) {
      const std::string_view before = text.substr(0, end - phrase.text.size());
      if (before.empty() || phrase.opens || is_boundary(last_code_point(before))) return true;
    }
  }
  return false;
}

ForbiddenPhrases::Tail ForbiddenPhrases::tail_of(const OpenOutput& output) const {
  std::span<const int> prompt;
  if (continues_ && output.source) prompt = output.source->ids;
  const size_t forced = prompt.size() + (output.source ? output.source->prefix.size() : 0);
  const auto text_at = [&](size_t i) -> std::string_view {
    const int id = i < prompt.size() ? prompt[i] : output.tokens[i - prompt.size()];
    return tokens_[size_t(id)].text;
  };
  const size_t end = prompt.size() + output.tokens.size();
  size_t first = end;
  // A character before the phrase, and one after it that is incomplete.
  for (size_t bytes = 0; first > 0 && bytes < longest_ + 8;) {
    const std::string_view text = text_at(--first);
    bytes += text.size() - text.starts_with(' ');
  }
  // Bytes of Source::rest that the tokens before the tail have not written.
  auto rest = output.source ? int64_t(output.source->rest.size()) : 0;
  for (size_t i = forced; i < first && rest > 0; ++i) rest -= int64_t(text_at(i).size());
  Tail tail;
  for (size_t i = first; i < end; ++i) {
    const int64_t before = i < forced ? int64_t(text_at(i).size()) : std::max(rest, int64_t(0));
    append_spaced(tail.text, text_at(i).substr(0, size_t(before)));
    if (before > 0) tail.forced = tail.text.size();
    if (i >= forced) rest -= int64_t(text_at(i).size());
    append_spaced(tail.text, text_at(i).substr(std::min(size_t(before), text_at(i).size())));
  }
  return tail;
}

// Asked for each token that may follow, and computed once.
bool ForbiddenPhrases::ends_in_phrase(const OpenOutput& output) const {
  if (output.ends_forbidden < 0) {
    output.ends_forbidden = 0;
    if (!output.tokens.empty() && tokens_[size_t(output.tokens.back())].may_end) {
      const Tail tail = tail_of(output);
      output.ends_forbidden = ends(tail, tail.text.size());
    }
  }
  return output.ends_forbidden > 0;
}

// Whether the next token completes a phrase or shows that one has ended. last: no token follows it.
bool ForbiddenPhrases::holds_phrase(const OpenOutput& output, const Token& next, bool last) const {
  Tail tail = tail_of(output);
  size_t at = complete_size(tail.text);
  append_spaced(tail.text, next.text);
  const std::string_view text = std::string_view(tail.text).substr(0, complete_size(tail.text));
  while (at < text.size()) {
    const size_t begin = at;
    if (!is_boundary(next_code_point(text, at))) continue;
    if (ends(tail, begin) || ends(tail, at)) return true;
  }
  return last && ends(tail, text.size());
}

bool ForbiddenPhrases::allows(const OpenOutput& output, int token) const {
  if (token == Vocabulary::eos) return !ends_in_phrase(output);
  const Token& next = tokens_[size_t(token)];
  if (next.opens && ends_in_phrase(output)) return false;
  const bool last = output.left <= 0;
  return !(next.may_hold || (last && next.may_end)) || !holds_phrase(output, next, last);
}

}  // namespace tx
