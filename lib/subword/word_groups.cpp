#include "lib/subword/word_groups.h"

#include "lib/subword/token_table.h"

namespace tx {

namespace {

constexpr std::string_view joiner = "@@";

bool is_special(int id) {
  return id == Vocabulary::pad || id == Vocabulary::bos || id == Vocabulary::eos;
}

bool has_subwords(const Vocabulary& vocabulary) { return vocabulary.kind() != "words"; }

WordSigns signs_of(const Vocabulary& vocabulary, int id) {
  const std::string text = vocabulary.token(id);
  std::string_view rest = text;
  while (rest.starts_with(space_sign)) rest.remove_prefix(space_sign.size());
  return {is_special(id), text.starts_with(space_sign), rest.empty(),
          text.size() > joiner.size() && text.ends_with(joiner)};
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
    std::string text = vocabulary.decode(ids);
    text.erase(0, text.find_first_not_of(' '));
    return text;
  }
  std::string text;
  for (const int id : ids) {
    const std::string token = vocabulary.token(id);
    const bool joins = token.size() > joiner.size() && token.ends_with(joiner);
    text += joins ? token.substr(0, token.size() - joiner.size()) : token;
  }
  return text;
}

}  // namespace

WordGroups group_words(const Vocabulary& vocabulary, std::span<const int> ids) {
  const bool subwords = has_subwords(vocabulary);
  WordGroups out;
  std::vector<int> open;
  const auto close = [&](size_t end) {
    if (open.empty()) return;
    out.starts.push_back(int64_t(end));
    out.words.push_back(text_of(vocabulary, open, subwords));
    open.clear();
  };
  Scan scan(subwords);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (scan.begins(signs_of(vocabulary, ids[i]))) close(i);
    open.push_back(ids[i]);
  }
  close(ids.size());
  return out;
}

WordStarts::WordStarts(const Vocabulary& vocabulary) : subwords_(has_subwords(vocabulary)) {
  for (int id = 0; id < vocabulary.size(); ++id) signs_.push_back(signs_of(vocabulary, id));
}

std::vector<int64_t> WordStarts::operator()(std::span<const int> ids) const {
  std::vector<int64_t> starts;
  Scan scan(subwords_);
  for (size_t i = 0; i < ids.size(); ++i)
    if (scan.begins(signs_[size_t(ids[i])])) starts.push_back(int64_t(i));
  if (starts.empty()) return {0};
  starts.push_back(int64_t(ids.size()));
  return starts;
}

}  // namespace tx
