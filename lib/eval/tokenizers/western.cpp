#include "lib/eval/tokenizers/western.h"

#include <array>
#include <cstdint>
#include <utility>

#include "lib/base/split.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

// The rules in the order in which mteval-v13a applies them. Each rule reads the whole line from
// left to right and continues after its match, so that of two adjacent characters only the first
// may find its context: "1..5" differs from "a..b". All contexts are ASCII or "anything but a
// digit", so bytes can be treated as characters here.

constexpr std::array<bool, 256> ascii_symbols() {
  std::array<bool, 256> symbol{};
  // All ASCII punctuation and symbols except ' , - and . (the last three have their own rules).
  for (const char c : std::string_view("!\"#$%&()*+/:;<=>?@[\\]^_`{|}~")) symbol[uint8_t(c)] = true;
  return symbol;
}

bool digit(char c) { return c >= '0' && c <= '9'; }
bool point(char c) { return c == '.' || c == ','; }

void append_spaced(std::string& text, char c) {
  text.push_back(' ');
  text.push_back(c);
  text.push_back(' ');
}

// "x." -> "x . " unless x is a digit.
void split_point_after_non_digit(std::string_view in, std::string& out) {
  out.clear();
  for (size_t i = 0; i < in.size(); ++i) {
    out.push_back(in[i]);
    if (i + 1 < in.size() && point(in[i + 1]) && !digit(in[i])) append_spaced(out, in[++i]);
  }
}

// ".x" -> " . x" unless x is a digit.
void split_point_before_non_digit(std::string_view in, std::string& out) {
  out.clear();
  for (size_t i = 0; i < in.size(); ++i) {
    if (i + 1 < in.size() && point(in[i]) && !digit(in[i + 1])) append_spaced(out, in[i++]);
    out.push_back(in[i]);
  }
}

// "5-" -> "5 - ".
void split_hyphen_after_digit(std::string_view in, std::string& out) {
  out.clear();
  for (size_t i = 0; i < in.size(); ++i) {
    out.push_back(in[i]);
    if (i + 1 < in.size() && in[i + 1] == '-' && digit(in[i])) append_spaced(out, in[++i]);
  }
}

// Chinese and Japanese punctuation, also full-width.
bool asian_punctuation(char32_t c) {
  return c == 0x3001 || c == 0x3002 || (c >= 0x3008 && c <= 0x3011) ||
         (c >= 0x3014 && c <= 0x301F) || (c >= 0xFF61 && c <= 0xFF65) || c == 0x30FB ||
         c == 0xFF0E || c == 0xFF0C || c == 0xFF1F || (c >= 0xFF1A && c <= 0xFF1B) ||
         (c >= 0xFF01 && c <= 0xFF02) || (c >= 0xFF08 && c <= 0xFF09);
}

// Ideographs, radicals, strokes, squared and compatibility characters. Runs of kana are not split:
// tercom's rules for them require a position that is both the start of the line and after a space.
bool ideographic(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3200 && c <= 0x4DBF) ||
         (c >= 0x31C0 && c <= 0x31EF) || (c >= 0x2E80 && c <= 0x2EFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE4F);
}

bool western_punctuation(char32_t c) {
  return c < 0x80 && std::string_view(".,?:;!\"()").find(char(c)) != std::string_view::npos;
}

enum class Treat { keep, isolate, remove };

template <class F>
void rewrite(std::string_view in, std::string& out, F treat) {
  out.clear();
  for (size_t i = 0; i < in.size();) {
    const size_t begin = i;
    const Treat how = treat(next_code_point(in, i));
    if (how == Treat::remove) continue;
    if (how == Treat::isolate) out.push_back(' ');
    out.append(in, begin, i - begin);
    if (how == Treat::isolate) out.push_back(' ');
  }
}

}  // namespace

void split_compounds(std::string_view text, std::string& split) {
  const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  split.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    split.push_back(text[i]);
    if (i + 2 >= text.size() || blank(text[i]) || text[i + 1] != '-' || blank(text[i + 2]))
      continue;
    split.append(" ##AT##-##AT## ").push_back(text[i + 2]);
    i += 2;
  }
}

void resolve_entities(std::string& text) {
  if (text.find('&') == std::string::npos) return;
  constexpr std::pair<std::string_view, std::string_view> entities[] = {
      {"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}};
  for (const auto& [entity, character] : entities) replace_all(text, entity, character);
}

// c -> " c " for every symbol.
void WesternRules::isolate_symbols(std::string& text) {
  static constexpr std::array<bool, 256> symbol = ascii_symbols();
  next_.clear();
  for (const char c : text)
    if (symbol[uint8_t(c)])
      append_spaced(next_, c);
    else
      next_.push_back(c);
  text.swap(next_);
}

void WesternRules::split_points(std::string& text) {
  split_point_after_non_digit(text, next_);
  split_point_before_non_digit(next_, text);
  split_hyphen_after_digit(text, next_);
  text.swap(next_);
}

void WesternRules::apply(std::string& text) {
  isolate_symbols(text);
  split_points(text);
}

TercomTokenizer::TercomTokenizer(bool case_sensitive, bool normalize, bool no_punctuation,
                                 bool asian)
    : normalize_(normalize), no_punctuation_(no_punctuation), asian_(asian) {
  if (!case_sensitive) lowercaser_ = std::make_unique<Lowercaser>();
}

void TercomTokenizer::apply(std::string_view text, std::string& tokenized) {
  if (lowercaser_)
    lowercaser_->apply(text, tokenized);
  else
    tokenized = text;
  if (normalize_ && !tokenized.empty()) {
    resolve_entities(tokenized);
    tokenized.insert(0, 1, ' ').push_back(' ');
    rules_.isolate_symbols(tokenized);
    replace_all(tokenized, "'s ", " 's ");
    rules_.split_points(tokenized);
    if (asian_) {
      rewrite(tokenized, next_, [](char32_t c) {
        return ideographic(c) || asian_punctuation(c) ? Treat::isolate : Treat::keep;
      });
      tokenized.swap(next_);
    }
  }
  if (no_punctuation_) {
    rewrite(tokenized, next_, [&](char32_t c) {
      const bool mark = western_punctuation(c) || (asian_ && asian_punctuation(c));
      return mark ? Treat::remove : Treat::keep;
    });
    tokenized.swap(next_);
  }
}

}  // namespace tx
