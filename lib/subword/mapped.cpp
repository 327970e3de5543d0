#include "lib/subword/mapped.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/utf8.h"
#include "lib/subword/model_proto.h"
#include "lib/subword/subword.h"
#include "lib/subword/token_table.h"
#include "lib/subword/tokenizer/tokenizer.h"

namespace tx {

namespace {

using Kind = TokenTable::Kind;

class Mapped final : public Vocabulary {
 public:
  Mapped(std::string bytes, const std::string& where)
      : Vocabulary(std::move(bytes)), content_(read_mapped(this->bytes(), where)) {
    if (has_tokenizer(content_))
      tokenizer_ = std::make_unique<SpecTokenizer>(read_tokenizer(content_.model, where), where);
    else
      splitter_ = std::make_unique<PieceSplitter>(content_.model, where);
    std::vector<Kind> kinds(content_.tokens.size(), Kind::normal);
    for (int id = 0; id < specials; ++id) kinds[size_t(id)] = Kind::control;
    for (const int id : content_.controls) kinds[size_t(id)] = Kind::control;
    for (size_t id = 0; id < kinds.size(); ++id) {
      const std::string& text = content_.tokens[id];
      if (content_.bytes && kinds[id] == Kind::normal && names_byte(text)) kinds[id] = Kind::byte;
      if (table_.id_of(text) >= 0)
        throw DataError(where + ": the token " + shown(text) + " occurs twice");
      table_.add(text, kinds[id], 0);
    }
    if (tokenizer_) match_ids();
  }

  std::string kind() const override { return "mapped"; }
  int size() const override { return table_.size(); }

  void encode(std::string_view line, std::vector<int>& ids) const override {
    ids = content_.prefix;
    const std::string_view tag = tag_of(line);
    if (const int id = table_.id_of(tag); !tag.empty() && id >= specials) {
      ids.push_back(id);
      line.remove_prefix(tag.size());
    }
    if (tokenizer_) return encode_with_tokenizer(line, ids);
    std::vector<std::string> tokens;
    splitter_->split(line, tokens);
    if (tokens.empty() && ids.size() == content_.prefix.size()) ids.clear();  // a blank line
    for (const std::string& token : tokens) ids.push_back(usable_id(token));
  }

  std::string first_unknown(std::string_view line) const override {
    const std::string_view tag = tag_of(line);
    if (!tag.empty() && table_.id_of(tag) >= specials)
      line.remove_prefix(tag.size());
    else if (tag.find(' ') == tag.npos && !tag.empty())
      return std::string(tag);
    if (tokenizer_) return without_sign(tokenizer_->first_unknown(line));
    std::vector<std::string> tokens;
    splitter_->split(line, tokens);
    const auto found =
        std::ranges::find(tokens, int(unk), [&](const auto& t) { return usable_id(t); });
    return found == tokens.end() ? "" : without_sign(*found);
  }

  void restrict_to(const std::vector<std::string>&) override {
    throw UsageError("the vocabulary of a converted model cannot be restricted");
  }

  std::string decode(std::span<const int> ids) const override {
    for (const int id : ids) check_id(id);
    if (tokenizer_) return decode_with_tokenizer(ids);
    std::string text = table_.join(ids).value();  // no token is of kind unknown
    repair_utf8(text);
    std::replace(text.begin(), text.end(), '\n', ' ');
    const size_t begin = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
  }

  std::string token(int id) const override {
    check_id(id);
    return std::string(table_.text(id));
  }
  std::string token_bytes(int id) const override {
    check_id(id);
    if (!tokenizer_ || table_.kind(id) == Kind::control) return table_.bytes(id);
    return theirs_[size_t(id)] < 0 ? "" : tokenizer_->bytes(theirs_[size_t(id)]);
  }
  int id_of(std::string_view token) const override { return table_.id_of(token); }
  bool is_byte(int id) const override {
    check_id(id);
    return table_.kind(id) == Kind::byte;
  }
  const MappedTokens* mapped() const override { return &content_; }

 private:
  // The text up to "<<" of a line that may begin with a tag.
  std::string_view tag_of(std::string_view line) const {
    const size_t end = content_.tags && line.starts_with(">>") ? line.find("<<", 2) : line.npos;
    return end == line.npos ? "" : line.substr(0, end + 2);
  }

  // Input text must not produce </s> or a language token.
  int usable_id(const std::string& token) const {
    const int id = table_.id_of(token);
    return id >= 0 && table_.kind(id) != Kind::control ? id : unk;
  }

  // The tokenizer's ids of our tokens and the inverse. Special tokens may have another name.
  void match_ids() {
    const std::vector<std::string>& tokens = tokenizer_->spec().tokens;
    theirs_.assign(content_.tokens.size(), -1);
    ours_.assign(tokens.size(), unk);
    for (size_t id = 0; id < tokens.size(); ++id)
      if (const int ours = tokens[id].empty() ? -1 : table_.id_of(tokens[id]); ours >= 0) {
        ours_[id] = ours;
        theirs_[size_t(ours)] = int(id);
      }
  }

  void encode_with_tokenizer(std::string_view line, std::vector<int>& ids) const {
    const size_t begin = ids.size();
    tokenizer_->encode(line, ids);
    if (ids.size() == content_.prefix.size()) ids.clear();  // a blank line
    for (size_t i = begin; i < ids.size(); ++i) {
      const int id = ours_[size_t(ids[i])];
      const bool usable = content_.languages.empty() || table_.kind(id) != Kind::control;
      ids[i] = usable ? id : unk;
    }
  }

  std::string decode_with_tokenizer(std::span<const int> ids) const {
    std::vector<int> theirs;
    for (const int id : ids)
      if (id != pad && id != bos && id != eos && theirs_[size_t(id)] >= 0)
        theirs.push_back(theirs_[size_t(id)]);
    std::string text = tokenizer_->decode(theirs);
    repair_utf8(text);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  MappedTokens content_;
  std::unique_ptr<PieceSplitter> splitter_;  // or
  std::unique_ptr<SpecTokenizer> tokenizer_;
  std::vector<int> ours_, theirs_;  // by the tokenizer's id, by ours
  TokenTable table_;
};

// The array of ids `key`; each must be one of `size` tokens.
std::vector<int> read_ids(const Json& json, const char* key, size_t size,
                          const std::string& where) {
  std::vector<int> ids;
  const std::string place = where + " is not a valid token list";
  for (const Json& id : json_value(json, key, place, Json::array_t())) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= size)
      throw DataError(where + ": its list " + key + " has an invalid id");
    ids.push_back(id.get<int>());
  }
  return ids;
}

}  // namespace

bool has_subword_model(const Vocabulary& vocabulary) {
  if (vocabulary.mapped()) return !has_tokenizer(*vocabulary.mapped());
  return vocabulary.kind() == "sentencepiece";
}

const std::string& subword_model(const Vocabulary& vocabulary) {
  return vocabulary.mapped() ? vocabulary.mapped()->model : vocabulary.bytes();
}

bool has_tokenizer(const MappedTokens& content) {
  return content.model.starts_with(tokenizer_magic);
}

std::vector<int> forbidden_tokens(const Vocabulary& vocabulary) {
  if (vocabulary.kind() == "sentencepiece")
    return {Vocabulary::pad, Vocabulary::unk, Vocabulary::bos};
  std::vector<int> all = {Vocabulary::pad, Vocabulary::bos};
  if (const MappedTokens* mapped = vocabulary.mapped())
    all.insert(all.end(), mapped->forbidden.begin(), mapped->forbidden.end());
  return all;
}

std::vector<int> ending_tokens(const Vocabulary& vocabulary) {
  return vocabulary.mapped() ? vocabulary.mapped()->ends : std::vector<int>();
}

bool list_same_tokens(const Vocabulary& a, const Vocabulary& b) {
  if (a.size() != b.size()) return false;
  for (int id = 0; id < a.size(); ++id)
    if (a.token(id) != b.token(id)) return false;
  return true;
}

void append_tokens(MappedTokens& content, const std::vector<std::string>& tokens) {
  content.tokens.insert(content.tokens.end(), tokens.begin(), tokens.end());
  if (!has_tokenizer(content)) {
    content.model += user_piece_fields(tokens);
    return;
  }
  TokenizerSpec spec = read_tokenizer(content.model, "the description of the tokenizer");
  for (const std::string& token : tokens) {
    spec.added.push_back({.id = int(spec.tokens.size()), .text = token});
    spec.tokens.push_back(token);
  }
  content.model = tokenizer_bytes(spec);
}

std::string mapped_bytes(const MappedTokens& c) {
  Json json{{"pieces", c.tokens}, {"controls", c.controls}, {"bytes", c.bytes},
            {"tags", c.tags},     {"prefix", c.prefix},     {"forbidden", c.forbidden},
            {"first", c.first},   {"theirs", c.theirs}};
  if (!c.ends.empty()) json["ends"] = c.ends;
  if (!c.languages.empty()) {
    json["languages"] = c.languages;
    json["language_last"] = c.language_last;
  }
  if (!c.languages.empty() || !c.closing.empty()) json["closing"] = c.closing;
  return std::string(mapped_magic) + to_text(json) + "\n" + c.model;
}

MappedTokens read_mapped(std::string_view bytes, const std::string& where) {
  const auto refuse = [&](const std::string& why) {
    throw DataError(where + " is not a valid token list: " + why);
  };
  if (!bytes.starts_with(mapped_magic)) refuse("it has a different first line");
  bytes.remove_prefix(mapped_magic.size());
  const size_t end = bytes.find('\n');
  if (end == bytes.npos) refuse("it is truncated");
  const Json json = parse_json(bytes.substr(0, end), where);
  MappedTokens c;
  c.model = bytes.substr(end + 1);
  const std::string place = where + " is not a valid token list";
  c.tokens = json_value<std::vector<std::string>>(json, "pieces", place);
  c.bytes = json_value(json, "bytes", place, false);
  c.tags = json_value(json, "tags", place, false);
  const auto at = json_value<int64_t>(json, "first", place, -1);
  if (at < -1 || at >= int64_t(c.tokens.size())) refuse("its first token is not in the list");
  c.first = int(at);
  c.language_last = json_value(json, "language_last", place, false);
  c.theirs = json_value(json, "theirs", place, std::vector<int64_t>());
  for (auto [key, ids] : {std::pair{"controls", &c.controls},
                          {"prefix", &c.prefix},
                          {"forbidden", &c.forbidden},
                          {"ends", &c.ends},
                          {"languages", &c.languages},
                          {"closing", &c.closing}})
    *ids = read_ids(json, key, c.tokens.size(), where);
  if (c.tokens.size() < Vocabulary::specials) refuse("it has too few tokens");
  if (c.closing.size() > 2) refuse("it has more than 2 closing tokens");
  for (const std::string& token : c.tokens)
    if (token.empty()) refuse("a token is empty");
  return c;
}

std::unique_ptr<Vocabulary> parse_mapped(std::string bytes, const std::string& where) {
  return std::make_unique<Mapped>(std::move(bytes), where);
}

}  // namespace tx
