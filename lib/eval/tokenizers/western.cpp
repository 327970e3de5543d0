#include "lib/eval/tokenizers/western.h"

#include <array>
#include <cstdint>
#include <utility>

// The rules in the order in which mteval-v13a applies them. Each rule reads the whole line left
// to right and goes on after what it has just matched, so of two neighbours only the first may
// find its context: "1..5" differs from "a..b". All contexts are ASCII or "anything but a digit",
// and no byte of a multi-byte character is ASCII, so bytes can be treated as characters here.

namespace tx {
namespace {

constexpr std::array<bool, 256> ascii_symbols() {
  std::array<bool, 256> symbol{};
  // Every ASCII punctuation mark and symbol but ' , - and . (the last three have their own rules).
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

}  // namespace

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  size_t found = text.find(from);
  if (found == std::string::npos) return;
  std::string result;
  size_t begin = 0;
  for (; found != std::string::npos; found = text.find(from, begin)) {
    result.append(text, begin, found - begin).append(to);
    begin = found + from.size();
  }
  result.append(text, begin);
  text.swap(result);
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
  for (const char c : text) {
    if (symbol[uint8_t(c)]) {
      append_spaced(next_, c);
    } else {
      next_.push_back(c);
    }
  }
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

}  // namespace tx
