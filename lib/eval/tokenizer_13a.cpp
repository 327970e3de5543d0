// The 13a rules in the order in which mteval-v13a applies them. Each rule reads the whole line left
// to right and goes on behind what it has just matched, so of two neighbours only the first may
// find its context: "1..5" differs from "a..b". All contexts are ASCII or "anything but a digit",
// and no byte of a multi-byte character is ASCII, so bytes may stand for characters here.
#include <array>
#include <utility>

#include "lib/eval/tokenizer.h"

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

void append_spaced(std::string& text, char c) {
  text.push_back(' ');
  text.push_back(c);
  text.push_back(' ');
}

// c -> " c " for every symbol.
void isolate_symbols(std::string_view in, std::string& out) {
  static constexpr std::array<bool, 256> symbol = ascii_symbols();
  out.clear();
  for (const char c : in) {
    if (symbol[uint8_t(c)]) {
      append_spaced(out, c);
    } else {
      out.push_back(c);
    }
  }
}

// "x." -> "x . " unless x is a digit.
void split_point_behind_non_digit(std::string_view in, std::string& out) {
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
void split_hyphen_behind_digit(std::string_view in, std::string& out) {
  out.clear();
  for (size_t i = 0; i < in.size(); ++i) {
    out.push_back(in[i]);
    if (i + 1 < in.size() && in[i + 1] == '-' && digit(in[i])) append_spaced(out, in[++i]);
  }
}

class Tokenizer13a : public Tokenizer {
 public:
  std::string name() const override { return "13a"; }

  void apply(std::string_view text, std::string& tokenized) override {
    line_.assign(1, ' ').append(text).push_back(' ');
    replace_all(line_, "<skipped>", "");
    if (line_.find('&') != std::string::npos) {
      // One after another, so "&amp;lt;" becomes "<" but "&amp;quot;" stays "&quot;".
      constexpr std::pair<std::string_view, std::string_view> entities[] = {
          {"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}};
      for (const auto& [entity, character] : entities) replace_all(line_, entity, character);
    }
    isolate_symbols(line_, tokenized);
    split_point_behind_non_digit(tokenized, line_);
    split_point_before_non_digit(line_, tokenized);
    split_hyphen_behind_digit(tokenized, line_);
    tokenized.swap(line_);
  }

 private:
  std::string line_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_tokenizer_13a() { return std::make_unique<Tokenizer13a>(); }

}  // namespace tx
