#include "lib/subword/tokenizer/normalizer.h"

#include <cstring>

#include "lib/base/error.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

void lower(std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) < 0x80) {
      out += c >= 'A' && c <= 'Z' ? char(c + 32) : c;
      ++i;
    } else {
      append_lower(out, next_code_point(text, i));
    }
  }
  text = std::move(out);
}

// Calls change(out, c) for each character.
template <class F>
void rewrite(std::string& text, F&& change) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) change(out, next_code_point(text, i));
  text = std::move(out);
}

bool strip(std::string& text, bool left, bool right) {
  size_t begin = 0, end = text.size();
  for (size_t next = 0; left && begin < end; begin = next) {
    if (!is_white_space(next_code_point(text, next))) break;
  }
  while (right && end > begin) {
    const std::string_view rest(text.data(), end);
    if (!is_white_space(last_code_point(rest))) break;
    end = last_character(rest);
  }
  text = text.substr(begin, end - begin);
  return begin == 0;
}

// BERT's blocks of Chinese characters; the third range of extension E begins late in BERT, too.
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

// Format characters that are younger than the tables of tokenizers, which keep them.
bool is_young_format(char32_t c) {
  return c == 0x890 || c == 0x891 || c == 0x8E2 || c == 0x110CD || (c >= 0x13430 && c <= 0x1343F);
}

void clean(std::string& text) {
  rewrite(text, [](std::string& out, char32_t c) {
    const bool line = c == '\t' || c == '\n' || c == '\r';
    if (!line && (c == 0xFFFD || (is_format(c) && !is_young_format(c)))) return;
    append_code_point(out, line || is_white_space(c) ? ' ' : c);
  });
}

// SentencePiece's nmt rules.
void nmt(std::string& text) {
  rewrite(text, [](std::string& out, char32_t c) {
    if ((c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F ||
        c == 0x9F)
      return;
    const bool space = c == 9 || c == 10 || c == 12 || c == 13 || c == 0x1680 ||
                       (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                       c == 0xFEFF || c == 0xFFFD;
    append_code_point(out, space ? ' ' : c);
  });
}

void remove_marks(std::string& text, bool (*removed)(char32_t)) {
  rewrite(text, [&](std::string& out, char32_t c) {
    if (!removed(c)) append_code_point(out, c);
  });
}

// All of BERT's steps for ASCII.
void bert_ascii(std::string& text, bool cleans, bool lowers) {
  size_t size = 0;
  for (char c : text) {
    const bool space = c == '\t' || c == '\n' || c == '\r';
    if (cleans && !space && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)) continue;
    if (cleans && space) c = ' ';
    text[size++] = lowers && c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  }
  text.resize(size);
}

}  // namespace

PrecompiledMap::PrecompiledMap(const std::string& base64, const std::string& where) {
  uint32_t trie_bytes = 0;
  const bool read = from_base64(base64, bytes_) && bytes_.size() >= 4;
  if (read) std::memcpy(&trie_bytes, bytes_.data(), 4);
  if (!read || trie_bytes % 4 != 0 || trie_bytes > bytes_.size() - 4 ||
      count_invalid_utf8(std::string_view(bytes_).substr(4 + size_t(trie_bytes))) > 0)
    throw DataError(where + ": precompiled_charsmap of the normalizer Precompiled is malformed");
  units_ = trie_bytes / 4;
  texts_ = 4 + size_t(trie_bytes);
  for (size_t c = 0; c < ascii_.size(); ++c) {
    const char byte = char(c);
    ascii_[c] = find({&byte, 1});
  }
}

// A unit of the double-array trie (Darts); 0, which has no children, outside of it.
uint32_t PrecompiledMap::unit(size_t at) const {
  uint32_t value = 0;
  if (at < units_) std::memcpy(&value, bytes_.data() + 4 + 4 * at, 4);
  return value;
}

// The text for the shortest entry that `text` begins with.
std::optional<std::string_view> PrecompiledMap::find(std::string_view text) const {
  const auto children = [](uint32_t u) { return size_t(u >> 10) << ((u & 0x200) >> 6); };
  size_t node = children(unit(0));
  for (const char c : text) {
    if (c == 0) break;
    node ^= static_cast<unsigned char>(c);
    const uint32_t u = unit(node);
    if ((u & 0x800000FF) != static_cast<unsigned char>(c)) break;
    node ^= children(u);
    if ((u & 0x100) == 0) continue;
    const size_t begin = texts_ + (unit(node) & 0x7FFFFFFF);
    if (begin > bytes_.size()) return std::nullopt;
    const size_t end = std::min(bytes_.find('\0', begin), bytes_.size());
    const std::string_view found = std::string_view(bytes_).substr(begin, end - begin);
    if (!found.empty() && is_continuation(found[0])) return std::nullopt;
    return found;
  }
  return std::nullopt;
}

void PrecompiledMap::append(std::string& out, std::string_view cluster) const {
  if (cluster.size() < 6)
    if (const auto found = find(cluster)) {
      out += *found;
      return;
    }
  for (size_t i = 0; i < cluster.size();) {
    const size_t begin = i;
    next_code_point(cluster, i);
    const std::string_view character = cluster.substr(begin, i - begin);
    out += find(character).value_or(character);
  }
}

void PrecompiledMap::apply(std::string& text) const {
  std::string out;
  out.reserve(text.size());
  const auto plain = [&](size_t i) { return i >= text.size() || (text[i] & 0x80) == 0; };
  for (size_t i = 0; i < text.size();) {
    if (plain(i) && plain(i + 1) && text[i] != '\r') {
      const auto& found = ascii_[size_t(text[i])];
      found ? void(out += *found) : void(out += text[i]);
      ++i;
      continue;
    }
    const size_t begin = i;
    char32_t last = next_code_point(text, i);
    int32_t state = 0;
    while (i < text.size()) {
      size_t after = i;
      const char32_t c = next_code_point(text, after);
      if (ends_cluster(last, c, state)) break;
      last = c;
      i = after;
    }
    append(out, std::string_view(text).substr(begin, i - begin));
  }
  text = std::move(out);
}

Expression read_pattern(const Json& step, const std::string& where) {
  const auto pattern = Json(json_value<Json::object_t>(step, "pattern", where));
  const bool literal = pattern.contains("String");
  const auto text = json_value<std::string>(pattern, literal ? "String" : "Regex", where);
  return {text, literal, where};
}

Normalizer::Normalizer(const std::vector<Json>& steps, const std::string& where) {
  for (const Json& json : steps) {
    const auto type = json_value<std::string>(json, "type", where + ": normalizer");
    const std::string place = where + ": normalizer " + type;
    const auto flag = [&](const char* key, bool otherwise) {
      return json_value(json, key, place, otherwise);
    };
    Step step;
    if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
      const bool compatible = type[2] == 'K', composes = type.back() == 'C';
      step.form = compatible ? (composes ? NormalForm::nfkc : NormalForm::nfkd)
                             : (composes ? NormalForm::nfc : NormalForm::nfd);
    } else if (type == "Lowercase") {
      step.kind = Kind::lower;
    } else if (type == "StripAccents") {
      step.kind = Kind::strip_accents;
    } else if (type == "Nmt") {
      step.kind = Kind::nmt;
    } else if (type == "Strip") {
      step.kind = Kind::strip;
      step.left = json_value<bool>(json, "strip_left", place);
      step.right = json_value<bool>(json, "strip_right", place);
    } else if (type == "Prepend") {
      step.kind = Kind::prepend;
      step.text = json_value<std::string>(json, "prepend", place);
    } else if (type == "Replace") {
      step.kind = Kind::replace;
      step.expression = std::make_shared<Expression>(read_pattern(json, place));
      step.text = json_value<std::string>(json, "content", place);
    } else if (type == "Precompiled") {
      step.kind = Kind::precompiled;
      const auto map = json_value(json, "precompiled_charsmap", place, std::string());
      if (map.empty()) continue;
      step.map = std::make_shared<PrecompiledMap>(map, where);
    } else if (type == "BertNormalizer") {
      step.kind = Kind::bert;
      step.clean = flag("clean_text", true);
      step.chinese = flag("handle_chinese_chars", true);
      step.lower = flag("lowercase", true);
      const bool own = json.contains("strip_accents") && !json["strip_accents"].is_null();
      step.accents = own ? flag("strip_accents", true) : step.lower;
    } else {
      throw DataError(place + " is not supported");
    }
    steps_.push_back(std::move(step));
  }
}

bool Normalizer::apply(std::string& text) const {
  bool whole = true;
  for (const Step& step : steps_) whole &= apply(step, text);
  return whole;
}

bool Normalizer::apply(const Step& step, std::string& text) {
  switch (step.kind) {
    case Kind::form:
      to_normal_form(text, step.form);
      break;
    case Kind::lower:
      lower(text);
      break;
    case Kind::strip_accents:
      if (!is_ascii(text)) remove_marks(text, is_mark);
      break;
    case Kind::strip:
      return strip(text, step.left, step.right);
    case Kind::replace:
      step.expression->replace(text, step.text);
      break;
    case Kind::prepend:
      if (!text.empty()) text.insert(0, step.text);
      break;
    case Kind::precompiled:
      step.map->apply(text);
      break;
    case Kind::nmt:
      nmt(text);
      break;
    case Kind::bert:
      if (is_ascii(text)) {
        bert_ascii(text, step.clean, step.lower);
        break;
      }
      if (step.clean) clean(text);
      if (step.chinese)
        rewrite(text, [](std::string& out, char32_t c) {
          if (is_chinese(c)) out += ' ';
          append_code_point(out, c);
          if (is_chinese(c)) out += ' ';
        });
      if (step.accents) {
        to_normal_form(text, NormalForm::nfd);
        remove_marks(text, is_nonspacing_mark);
      }
      if (step.lower) lower(text);
      break;
  }
  return true;
}

}  // namespace tx
