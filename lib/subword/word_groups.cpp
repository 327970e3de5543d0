#include "lib/subword/word_groups.h"

namespace tx {

namespace {

constexpr std::string_view space_sign = "\u2581", joiner = "@@";

bool is_special(int id) {
  return id == Vocabulary::pad || id == Vocabulary::bos || id == Vocabulary::eos;
}

bool only_spaces(std::string_view piece) {
  while (piece.starts_with(space_sign)) piece.remove_prefix(space_sign.size());
  return piece.empty();
}

bool joins(std::string_view piece) {
  return piece.size() > joiner.size() && piece.ends_with(joiner);
}

// The word so far, of which the next piece may be a part.
struct Open {
  std::vector<int> ids;
  bool spaces = true;  // nothing but signs of spaces
  bool joins = false;  // its last piece ends in "@@"
};

std::string text_of(const Vocabulary& vocabulary, const std::vector<int>& ids, bool subwords) {
  if (is_special(ids.front())) return vocabulary.piece(ids.front());
  if (subwords) {
    std::string text = vocabulary.decode(ids);
    text.erase(0, text.find_first_not_of(' '));
    return text;
  }
  std::string text;
  for (const int id : ids) {
    const std::string piece = vocabulary.piece(id);
    text += joins(piece) ? piece.substr(0, piece.size() - joiner.size()) : piece;
  }
  return text;
}

}  // namespace

WordGroups group_words(const Vocabulary& vocabulary, std::span<const int> ids) {
  const bool subwords = vocabulary.kind() != "words";
  WordGroups out;
  Open open;
  const auto close = [&](size_t end) {
    if (open.ids.empty()) return;
    out.starts.push_back(int64_t(end));
    out.words.push_back(text_of(vocabulary, open.ids, subwords));
    open = {};
  };
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string piece = vocabulary.piece(ids[i]);
    const bool special = is_special(ids[i]);
    const bool goes_on = subwords ? open.spaces || !piece.starts_with(space_sign) : open.joins;
    if (special || !goes_on) close(i);
    open.ids.push_back(ids[i]);
    open.spaces = open.spaces && subwords && only_spaces(piece);
    open.joins = !subwords && joins(piece);
    if (special) close(i + 1);
  }
  close(ids.size());
  return out;
}

}  // namespace tx
