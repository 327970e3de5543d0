#include "lib/eval/matching/brackets.h"

#include <algorithm>
#include <iterator>

#include "lib/eval/tokenizers/unicode.h"

namespace tx {
namespace {

// Words with these tags and constituents with these labels are ignored.
constexpr std::string_view left_out[] = {"TOP", "ROOT", "S1", "-NONE-", ",", ":", "``", "''", "."};

bool is_left_out(std::string_view label) {
  return std::find(std::begin(left_out), std::end(left_out), label) != std::end(left_out);
}

// NP-SBJ and NP=2 are NP; -NONE- stays.
std::string_view plain(std::string_view label) {
  const size_t cut = label.find_first_of("-=");
  if (cut != std::string_view::npos && cut > 0) label = label.substr(0, cut);
  return label == "PRT" ? "ADVP" : label;
}

// The end of the word that begins at i: up to a parenthesis or white space.
size_t end_of_word(std::string_view line, size_t i) {
  while (i < line.size() && line[i] != '(' && line[i] != ')' && white_space(line, i) == 0) ++i;
  return i;
}

}  // namespace

void BracketReader::open(std::string_view label, Brackets& brackets) {
  if (complete_) brackets.error = "text after the end of the tree";
  if (!open_.empty()) {
    ++open_.back().children;
    open_.back().constituents = true;
  }
  open_.push_back({label, brackets.words});
}

void BracketReader::add_word(Brackets& brackets) {
  if (open_.empty()) {
    brackets.error = "a word outside the parentheses";
    return;
  }
  ++open_.back().children;
  ++brackets.words;
}

void BracketReader::close(std::string_view label, Brackets& brackets) {
  if (open_.empty()) {
    brackets.error = "one closing parenthesis too many";
    return;
  }
  const Open now = open_.back();
  open_.pop_back();
  complete_ = open_.empty();
  if (!label.empty() && label != now.label) {
    brackets.error =
        "\"(" + std::string(now.label) + "\" is closed by \")" + std::string(label) + "\"";
    return;
  }
  const bool tagged_word = label.empty() && now.children == 1 && !now.constituents;
  if (tagged_word && !now.label.empty()) {
    if (is_left_out(now.label)) --brackets.words;
    return;
  }
  const std::string_view name = plain(now.label);
  if (!name.empty() && !is_left_out(name) && now.begin < brackets.words)
    brackets.spans.push_back({name, now.begin, brackets.words});
}

void BracketReader::read(std::string_view line, Brackets& brackets) {
  brackets.spans.clear();
  brackets.words = 0;
  brackets.error.clear();
  open_.clear();
  complete_ = false;
  for (size_t i = 0; i < line.size() && brackets.error.empty();) {
    if (const size_t space = white_space(line, i); space > 0) {
      i += space;
      continue;
    }
    const bool parenthesis = line[i] == '(' || line[i] == ')';
    const size_t begin = parenthesis ? i + 1 : i, end = end_of_word(line, begin);
    const std::string_view word = line.substr(begin, end - begin);
    if (!parenthesis)
      add_word(brackets);
    else if (line[i] == '(')
      open(word, brackets);
    else
      close(word, brackets);
    i = end;
  }
  if (brackets.error.empty() && !open_.empty())
    brackets.error = "\"(" + std::string(open_.back().label) + "\" is not closed";
  std::sort(brackets.spans.begin(), brackets.spans.end());
}

}  // namespace tx
