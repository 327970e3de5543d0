// The description of a tokenizer as model files store it: tokenizer_magic, a line of JSON, then
// little-endian the tokens (a 32-bit length and the bytes), the scores (fp64) and the merges (three
// 32-bit ids).
#include <cmath>
#include <cstring>

#include "lib/base/error.h"
#include "lib/subword/tokenizer/spec.h"

namespace tx {

namespace {

constexpr const char* model_names[] = {"bpe", "unigram", "wordpiece"};

template <class T>
void append_value(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Json json_of(const AddedToken& t) {
  return {{"id", t.id},           {"text", t.text},        {"single_word", t.single_word},
          {"lstrip", t.lstrip},   {"rstrip", t.rstrip},    {"normalized", t.normalized},
          {"special", t.special}, {"in_model", t.in_model}};
}

class SpecReader {
 public:
  SpecReader(std::string_view bytes, const std::string& where) : rest_(bytes), where_(where) {}

  TokenizerSpec read() {
    if (!rest_.starts_with(tokenizer_magic)) refuse("it has a different first line");
    rest_.remove_prefix(tokenizer_magic.size());
    const size_t end = rest_.find('\n');
    if (end == rest_.npos) refuse("it is truncated");
    json_ = parse_json(rest_.substr(0, end), where_);
    rest_.remove_prefix(end + 1);
    read_tables();
    read_settings();
    return std::move(spec_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(where_ + " is not a valid tokenizer: " + why);
  }

  template <class T>
  T take() {
    T value;
    if (rest_.size() < sizeof value) refuse("it is truncated");
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }

  // The number of entries of a table, each of which has at least so many bytes.
  size_t count(const char* key, size_t bytes) const {
    const auto count = json_value<uint64_t>(json_, key, where_);
    if (count > rest_.size() / bytes) refuse("it is truncated");
    return size_t(count);
  }

  int checked(int64_t id) const {
    if (id < 0 || id >= int64_t(spec_.tokens.size())) refuse("an id is not that of a token");
    return int(id);
  }
  std::vector<int> ids(const char* key) const {
    std::vector<int> all;
    for (const int id : json_value<std::vector<int>>(json_, key, where_))
      all.push_back(checked(id));
    return all;
  }

  void read_tables() {
    spec_.tokens.resize(count("tokens", 4));
    for (std::string& token : spec_.tokens) {
      const auto size = take<uint32_t>();
      if (size > rest_.size()) refuse("it is truncated");
      token = rest_.substr(0, size);
      rest_.remove_prefix(size);
    }
    spec_.scores.resize(count("scores", 8));
    for (double& score : spec_.scores)
      if (!std::isfinite(score = take<double>())) refuse("a score is not a number");
    if (spec_.scores.size() > spec_.tokens.size()) refuse("it has more scores than tokens");
    spec_.merges.resize(count("merges", 12));
    for (TokenizerSpec::Merge& merge : spec_.merges) {
      merge.left = checked(take<int32_t>());
      merge.right = checked(take<int32_t>());
      merge.result = checked(take<int32_t>());
    }
    if (!rest_.empty()) refuse("it has trailing bytes");
  }

  void read_settings() {
    const auto model = json_value<std::string>(json_, "model", where_);
    size_t kind = 0;
    while (kind < std::size(model_names) && model != model_names[kind]) ++kind;
    if (kind == std::size(model_names)) refuse("the model " + shown(model) + " is unknown");
    spec_.model = TokenizerSpec::Model(kind);
    for (auto [key, steps] : {std::pair{"normalizer", &spec_.normalizer},
                              {"splitter", &spec_.splitter},
                              {"decoder", &spec_.decoder}})
      for (const Json& step : json_value<Json::array_t>(json_, key, where_)) steps->push_back(step);
    for (const Json& token : json_value<Json::array_t>(json_, "added", where_)) read_added(token);
    const auto unk = json_value<int64_t>(json_, "unk", where_);
    spec_.unk = unk < 0 ? -1 : checked(unk);
    spec_.byte_fallback = json_value<bool>(json_, "byte_fallback", where_);
    spec_.fuse_unk = json_value<bool>(json_, "fuse_unk", where_);
    spec_.ignore_merges = json_value<bool>(json_, "ignore_merges", where_);
    spec_.prefix = json_value<std::string>(json_, "prefix", where_);
    spec_.suffix = json_value<std::string>(json_, "suffix", where_);
    spec_.max_characters = json_value<int>(json_, "max_characters", where_);
    spec_.before = ids("before");
    spec_.after = ids("after");
  }

  void read_added(const Json& json) {
    AddedToken token;
    token.id = checked(json_value<int>(json, "id", where_));
    token.text = json_value<std::string>(json, "text", where_);
    for (auto [key, value] : {std::pair{"single_word", &token.single_word},
                              {"lstrip", &token.lstrip},
                              {"rstrip", &token.rstrip},
                              {"normalized", &token.normalized},
                              {"special", &token.special},
                              {"in_model", &token.in_model}})
      *value = json_value<bool>(json, key, where_);
    spec_.added.push_back(std::move(token));
  }

  std::string_view rest_;
  const std::string& where_;
  Json json_;
  TokenizerSpec spec_;
};

}  // namespace

std::string tokenizer_bytes(const TokenizerSpec& s) {
  Json added = Json::array();
  for (const AddedToken& token : s.added) added.push_back(json_of(token));
  const Json json{{"model", model_names[int(s.model)]},
                  {"normalizer", Json(s.normalizer)},
                  {"splitter", Json(s.splitter)},
                  {"decoder", Json(s.decoder)},
                  {"added", added},
                  {"unk", s.unk},
                  {"byte_fallback", s.byte_fallback},
                  {"fuse_unk", s.fuse_unk},
                  {"ignore_merges", s.ignore_merges},
                  {"prefix", s.prefix},
                  {"suffix", s.suffix},
                  {"max_characters", s.max_characters},
                  {"before", s.before},
                  {"after", s.after},
                  {"tokens", s.tokens.size()},
                  {"scores", s.scores.size()},
                  {"merges", s.merges.size()}};
  std::string out = std::string(tokenizer_magic) + to_text(json) + "\n";
  for (const std::string& token : s.tokens) {
    append_value(out, uint32_t(token.size()));
    out += token;
  }
  for (const double score : s.scores) append_value(out, score);
  for (const TokenizerSpec::Merge& merge : s.merges)
    for (const int32_t id : {merge.left, merge.right, merge.result}) append_value(out, id);
  return out;
}

TokenizerSpec read_tokenizer(std::string_view bytes, const std::string& where) {
  return SpecReader(bytes, where).read();
}

}  // namespace tx
