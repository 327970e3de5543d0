#include "lib/subword/word_groups.h"

#include "lib/base/utf8.h"

namespace tx {

namespace {

constexpr std::string_view joiner = "@@";

bool is_special(int id) {
  return id == Vocabulary::pad || id == Vocabulary::bos || id == Vocabulary::eos;
}

bool has_subwords(const Vocabulary& vocabulary) { return vocabulary.kind() != "words"; }

WordSigns signs_of(const Vocabulary& vocabulary, int id) {
  const std::string text = vocabulary.token(id);
  WordSigns signs{.special = is_special(id),
                  .joins = text.size() > joiner.size() && text.ends_with(joiner)};
  const std::string bytes = signs.special ? "" : vocabulary.token_bytes(id);
  signs.byte = vocabulary.is_byte(id) && bytes.size() == 1;
  if (signs.byte) signs.value = bytes[0];
  if (bytes.empty() || (signs.byte && uint8_t(bytes[0]) >= 0x80)) return signs;
  size_t next = 0;
  signs.space = is_white_space(next_code_point(bytes, next));
  signs.spaces = is_blank(bytes);
  return signs;
}

// Marks the bytes of white space that is written in several byte tokens.
void mark_spaces(std::vector<WordSigns>& tokens) {
  for (size_t i = 0; i < tokens.size();) {
    std::string bytes;
    const size_t begin = i;
    for (; i < tokens.size() && tokens[i].byte; ++i) bytes += tokens[i].value;
    if (i == begin) ++i;
    if (bytes.size() < 2 || count_invalid_utf8(bytes) > 0) continue;
    for (size_t at = 0; at < bytes.size();) {
      const size_t first = at;
      if (!is_white_space(next_code_point(bytes, at))) continue;
      for (size_t k = first; k < at; ++k) tokens[begin + k].space = tokens[begin + k].spaces = true;
    }
  }
}

// Finds the beginnings of words in a sequence of tokens.
class Scan {
 public:
  explicit Scan(bool subwords) : subwords_(subwords) {}

  // Whether a word begins with this token.
  bool begins(const WordSigns& token) {
    const bool continues = subwords_ ? spaces_ || !token.space : joins_;
    const bool begins = !inside_ || token.special || !continues;
    spaces_ = (begins || spaces_) && subwords_ && token.spaces;
    joins_ = !subwords_ && token.joins;
    inside_ = !token.special;
    return begins;
  }

 private:
  bool subwords_;
  bool inside_ = false;  // the next token may continue the word
  bool spaces_ = false;  // the word so far consists of U+2581
  bool joins_ = false;   // its last token ends in "@@"
};

std::string text_of(const Vocabulary& vocabulary, const std::vector<int>& ids, bool subwords) {
  if (is_special(ids.front())) return vocabulary.token(ids.front());
  if (subwords) {
    const std::string text = vocabulary.decode(ids);
    return std::string(trimmed(text));
  }
  std::string text;
  for (const int id : ids) {
    const std::string token = vocabulary.token(id);
    const bool joins = token.size() > joiner.size() && token.ends_with(joiner);
    text += joins ? token.substr(0, token.size() - joiner.size()) : token;
  }
  return text;
}

std::vector<int64_t> starts_of(std::vector<WordSigns> tokens, bool subwords) {
  if (subwords) mark_spaces(tokens);
  std::vector<int64_t> starts;
  Scan scan(subwords);
  bool blank = false, follows = false;  // the word is white space; it follows a word of text
  const auto close = [&] {              // white space at the end belongs to the word before it
    if (subwords && blank && follows) starts.pop_back();
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool begins = scan.begins(tokens[i]);
    if (tokens[i].special) close();
    if (begins) {
      follows = i > 0 && !tokens[i - 1].special;
      starts.push_back(int64_t(i));
    }
    blank = tokens[i].spaces && (begins || blank);
  }
  close();
  if (starts.empty()) return {0};
  starts.push_back(int64_t(tokens.size()));
  return starts;
}

}  // namespace

WordGroups group_words(const Vocabulary& vocabulary, std::span<const int> ids) {
  const bool subwords = has_subwords(vocabulary);
  std::vector<WordSigns> tokens;
  for (const int id : ids) tokens.push_back(signs_of(vocabulary, id));
  WordGroups out{starts_of(std::move(tokens), subwords), {}};
  for (size_t word = 0; word + 1 < out.starts.size(); ++word)
    out.words.push_back(
        text_of(vocabulary, {ids.begin() + out.starts[word], ids.begin() + out.starts[word + 1]},
                subwords));
  return out;
}

WordStarts::WordStarts(const Vocabulary& vocabulary) : subwords_(has_subwords(vocabulary)) {
  for (int id = 0; id < vocabulary.size(); ++id) signs_.push_back(signs_of(vocabulary, id));
}

std::vector<int64_t> WordStarts::operator()(std::span<const int> ids) const {
  std::vector<WordSigns> tokens;
  for (const int id : ids) tokens.push_back(signs_[size_t(id)]);
  return starts_of(std::move(tokens), subwords_);
}

}  // namespace tx
