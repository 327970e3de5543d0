#include "lib/search/lines/open_end.h"

#include <algorithm>
#include <span>

#include "lib/base/utf8.h"

namespace tx {
namespace {

constexpr size_t enough_bytes = 64;  // more than the tokens of a subword model have

bool is_space(std::string_view bytes) {
  return !bytes.empty() && bytes.find_first_not_of(' ') == bytes.npos;
}

// Sets `text` to the last word and the space before it; returns its tokens, 0 if one is unknown.
size_t last_word(std::span<const int> ids, const Vocabulary& vocabulary, std::string& text) {
  text.clear();
  for (size_t first = ids.size(); first-- > 0;) {
    if (ids[first] == Vocabulary::unk) return 0;
    const std::string bytes = vocabulary.token_bytes(ids[first]);
    if (bytes.empty()) return ids.size() - first - 1;  // a language
    text.insert(0, bytes);
    const std::string before = first > 0 ? vocabulary.token_bytes(ids[first - 1]) : "";
    const bool begins = !is_space(before) && (text.front() == ' ' || before.ends_with(' '));
    if (begins || (text.size() >= enough_bytes && !is_continuation(text.front())))
      return ids.size() - first;
  }
  return ids.size();
}

}  // namespace

void open_prefix(std::string_view text, const TokenTexts& texts, Source& source) {
  const Vocabulary& vocabulary = texts.vocabulary();
  std::vector<int>& ids = source.prefix;
  std::vector<int> choices;
  const auto open = [&](size_t tokens, std::string rest) {
    texts.choices(rest, choices);
    if (choices.empty()) return false;
    source.rest = std::move(rest);
    source.rest_tokens = int64_t(tokens);
    ids.resize(ids.size() - std::min(tokens, ids.size()));
    return true;
  };
  const std::string_view words = trimmed(text);
  const std::string_view after = text.substr(size_t(words.data() - text.data()) + words.size());
  std::string rest;
  if (after.find(' ') != after.npos) {
    if (!vocabulary.token_bytes(ids.back()).ends_with(' ')) open(0, " ");
  } else if (const size_t tokens = last_word(ids, vocabulary, rest); tokens > 0) {
    while (rest.size() > 1 && rest.back() == ' ') rest.pop_back();  // U+2581 after each word
    open(tokens, std::move(rest));
  } else {  // its beginning may not be a word of a list, or not be written as it stands
    const size_t space = words.rfind(' '), before = space == words.npos ? 0 : space;
    std::vector<int> all = ids;
    vocabulary.encode(words.substr(0, before), ids);
    if (!open(0, " " + std::string(words.substr(space + 1)))) ids = std::move(all);
    source.rest_tokens = source.rest.empty() ? 0 : 1;
  }
}

void open_prompt(std::string_view text, const Translator& translator, Source& source) {
  const TokenTexts* texts = translator.rules().texts();
  if (!translator.continues() || !texts || source.ids.empty()) return;
  const char32_t last = last_code_point(text);
  const CharacterClass kind = class_of(last);
  const bool mark = kind == CharacterClass::punctuation || kind == CharacterClass::symbol;
  if (mark || (last != ' ' && is_white_space(last))) return;
  std::string end = " ";
  if (last != ' ' || texts->vocabulary().token_bytes(source.ids.back()).ends_with(end)) {
    if (texts->vocabulary().kind() != "words")  // where a word that has a token is complete
      source.open_tokens = int64_t(last_word(source.ids, texts->vocabulary(), end));
    if (!translator.options().search.bos)  // the first token is not scored
      source.open_tokens = std::min(source.open_tokens, int64_t(source.ids.size()) - 1);
    return;
  }
  std::vector<int> choices;
  texts->choices(end, choices);
  if (!choices.empty()) source.rest = end;
}

}  // namespace tx
