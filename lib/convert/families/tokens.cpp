#include "lib/convert/families/tokens.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/utf8.h"
#include "lib/convert/formats/directory.h"
#include "lib/subword/words.h"

namespace tx {

TokenOrder::TokenOrder(const std::vector<std::string>& tokens, const SpecialIds& special,
                       const std::string& where, Start start)
    : start_(start) {
  const bool own = start == Start::own;
  const auto count = int64_t(tokens.size());
  const auto check = [&](const char* name, int64_t id) {
    if (id >= 0 && id < count) return;
    throw DataError(where + ": the id of " + name + " is " + std::to_string(id) +
                    ", but there are " + std::to_string(count) + " tokens");
  };
  check("pad", special.pad);
  check("unk", special.unk);
  check("eos", special.eos);
  check("the decoder's start token", special.start);
  if (special.pad == special.unk || special.unk == special.eos || special.eos == special.pad)
    throw DataError(where + ": pad, unk and eos must be three different tokens");
  if (own && (special.start == special.pad || special.start == special.unk ||
              special.start == special.eos))
    throw DataError(where + ": bos must differ from pad, unk and eos");
  from_ = {special.pad, special.unk, special.start, special.eos};
  for (int64_t id = 0; id < count; ++id)
    if (id != special.pad && id != special.unk && id != special.eos &&
        !(own && id == special.start))
      from_.push_back(id);
  to_.assign(tokens.size(), -1);
  for (size_t i = 0; i < from_.size(); ++i) {
    tokens_.push_back(tokens[size_t(from_[i])]);
    if (own || i != Vocabulary::bos) to_[size_t(from_[i])] = int(i);
  }
  if (own) return;
  std::string name = "<s>";
  while (std::find(tokens.begin(), tokens.end(), name) != tokens.end()) name += '_';
  tokens_[Vocabulary::bos] = name;
}

TokenOrder TokenOrder::of(const MappedTokens& content, const std::string& where, Start start) {
  if (content.theirs.size() != Vocabulary::specials)
    throw DataError(where + ": its vocabulary does not record the original ids of its tokens");
  const auto& t = content.theirs;
  const size_t count = content.tokens.size() - (start == Start::copied ? 1 : 0);
  return {std::vector<std::string>(count, "-"), {t[0], t[1], t[2], t[3]}, where, start};
}

int TokenOrder::id(int64_t theirs) const {
  return theirs < 0 || theirs >= int64_t(to_.size()) ? -1 : to_[size_t(theirs)];
}

MappedTokens TokenOrder::content() const {
  MappedTokens content;
  content.tokens = tokens_;
  content.theirs.assign(from_.begin(), from_.begin() + Vocabulary::specials);
  return content;
}

WeightRows TokenOrder::rows(WeightRows theirs) const {
  return picked(std::move(theirs), size(),
                [from = from_](int64_t row) { return from[size_t(row)]; });
}

WeightRows TokenOrder::bias(WeightRows theirs, bool without_pad) const {
  return {1, size(), [=, from = from_](int64_t, int64_t count, float* to) {
            if (count == 0) return;
            std::vector<float> all(size_t(theirs.cols));
            theirs.read(0, 1, all.data());
            for (size_t i = 0; i < from.size(); ++i) to[i] = all[size_t(from[i])];
            to[Vocabulary::bos] = never;
            if (without_pad) to[Vocabulary::pad] = never;
          }};
}

WeightRows TokenOrder::own_bias(WeightRows theirs) const {
  return {1, size(), [theirs, order = *this](int64_t, int64_t count, float* to) {
            if (count == 0) return;
            std::vector<float> all(size_t(theirs.cols));
            theirs.read(0, 1, all.data());
            for (int id = 0; id < int(order.size()); ++id)
              to[id] = order.from(id) < theirs.cols ? all[size_t(order.from(id))] : never;
            if (order.start_ == Start::copied) to[Vocabulary::bos] = never;
          }};
}

SpecTokens tokens_of(const TokenizerSpec& spec, int64_t rows, SpecialIds special,
                     const std::string& where, Start start) {
  std::vector<std::string> texts = spec.tokens;
  if (int64_t(texts.size()) > rows)
    throw DataError(where + " has the token " + shown(texts.back()) + " with the id " +
                    std::to_string(texts.size() - 1) + ", but the embedding has " +
                    std::to_string(rows) + " rows");
  const std::set<std::string> known(texts.begin(), texts.end());
  texts.resize(size_t(rows));
  std::vector<int64_t> spare, silent;
  for (int64_t id = 0; id < rows; ++id)
    if (std::string& text = texts[size_t(id)]; text.empty()) {
      text = unnamed_row(id);
      while (known.contains(text)) text += '_';
      spare.push_back(id);
    }
  silent = spare;
  for (const AddedToken& token : spec.added)
    if (token.special) silent.push_back(token.id);
  // Bytes that UTF-8 does not have, as ByteLevel and as byte_fallback name them; special tokens.
  const bool by_bytes = std::ranges::any_of(
      spec.splitter, [](const Json& step) { return step.value("type", Json()) == "ByteLevel"; });
  for (const char* text : {by_bytes ? "\u00C0" : "<0xC0>", by_bytes ? "\u00C1" : "<0xC1>",
                           by_bytes ? "\u00FF" : "<0xFF>"})
    if (const auto at = std::ranges::find(texts, text); at != texts.end())
      spare.push_back(at - texts.begin());
  for (auto token = spec.added.rbegin(); token != spec.added.rend(); ++token)
    if (token->special) spare.push_back(token->id);
  const auto taken = [&](int64_t id) {
    return id == special.pad || id == special.unk || id == special.start || id == special.eos;
  };
  for (int64_t* id : {&special.unk, &special.start, &special.pad}) {
    if (*id >= 0) continue;
    const auto free = std::ranges::find_if_not(spare, taken);
    if (free == spare.end())
      throw DataError(where +
                      " has no token for padding, unknown text or the beginning of a text: no "
                      "unused row in the embedding and no further special token");
    *id = *free;
  }
  SpecTokens out{TokenOrder(texts, special, where, start), {}};
  out.content = out.order.content();
  out.content.bytes = spec.byte_fallback;
  if (spec.unk < 0) out.content.forbidden = {Vocabulary::unk};
  for (const int64_t theirs : silent)
    if (const int id = out.order.id(theirs); id >= Vocabulary::specials)
      out.content.controls.push_back(id);
  std::ranges::sort(out.content.controls);
  out.content.model = tokenizer_bytes(spec);
  return out;
}

std::optional<TokenizerSpec> find_tokenizer(const std::string& directory) {
  const std::string path = directory + "/tokenizer.json";
  if (!file_exists(path)) return std::nullopt;
  return read_tokenizer_json(read_object(path), path);
}

WeightRows zeros(int64_t rows, int64_t cols) {
  return {rows, cols,
          [cols](int64_t, int64_t count, float* to) { std::fill(to, to + count * cols, 0.0f); }};
}

WeightRows picked(WeightRows rows, int64_t count, std::function<int64_t(int64_t row)> from) {
  const int64_t cols = rows.cols;
  WeightRows out{count, cols, {}};
  if (rows.scale)
    out.scale = [scale = rows.scale, from](int64_t row) {
      return from(row) < 0 ? 0 : scale(from(row));
    };
  out.read = [cols, rows = std::move(rows), from](int64_t first, int64_t n, float* to) {
    for (int64_t row = first; row < first + n; ++row, to += cols) {
      const int64_t theirs = from(row);
      theirs < 0 ? void(std::fill(to, to + cols, 0.0f)) : rows.read(theirs, 1, to);
    }
  };
  return out;
}

WeightRows with_zeros(WeightRows rows, int64_t count) {
  const int64_t own = rows.rows;
  return picked(std::move(rows), count, [own](int64_t row) { return row < own ? row : -1; });
}

std::vector<std::string> read_token_ids(const std::string& path) {
  return tokens_by_id(read_object(path), path);
}

std::vector<std::string> tokens_by_id(const Json& json, const std::string& path) {
  std::vector<std::string> tokens(json.size());
  std::vector<bool> seen(json.size(), false);
  for (const auto& [token, id] : json.items()) {
    const bool number = id.is_number_unsigned() && id.get<uint64_t>() < tokens.size();
    const size_t at = number ? id.get<size_t>() : 0;
    if (!number || seen[at] || token.empty())
      throw DataError(path + ": the token " + shown(token) +
                      " must have an id of its own from 0 to " + std::to_string(tokens.size() - 1));
    seen[at] = true;
    tokens[at] = token;
  }
  if (tokens.empty()) throw DataError(path + " has no tokens");
  return tokens;
}

std::vector<std::string> listed_tokens(const std::string& text, const std::string& path) {
  std::vector<std::string> out;
  if (path.ends_with(".json")) {
    const Json json = parse_json(text, path);
    if (json.is_object()) return tokens_by_id(json, path);
    for (const Json& token : json) {
      if (!json.is_array() || !token.is_string())
        throw DataError(path + " is not a list of tokens");
      out.push_back(token.get<std::string>());
    }
    return out;
  }
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto returns = [](const std::string& token) { return token.ends_with('\r'); };
  if (std::ranges::all_of(out, returns))
    for (std::string& token : out) token.pop_back();
  return out;
}

std::string word_list(const std::vector<std::string>& tokens) {
  const auto& specials = Vocabulary::special_names;
  std::set<std::string> known(std::begin(specials), std::end(specials));
  std::string bytes(words_magic);
  for (size_t id = 0; id < tokens.size(); ++id) {
    std::string word = tokens[id];
    if (id < std::size(specials)) {
      word = specials[id];
    } else {
      if (word.empty() || std::any_of(word.begin(), word.end(), separates_words) ||
          count_invalid_utf8(word) > 0)
        word = unnamed_row(int64_t(id));
      while (!known.insert(word).second) word += '_';
    }
    bytes += word + "\n";
  }
  return bytes;
}

std::string token_text(const Json& token) {
  const Json& text = token.is_object() && token.contains("content") ? token["content"] : token;
  return text.is_string() ? text.get<std::string>() : "";
}

std::string unnamed_row(int64_t id) { return "<row-" + std::to_string(id) + ">"; }

}  // namespace tx
