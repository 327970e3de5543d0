#include "lib/text/parse.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "lib/base/error.h"
#include "lib/base/split.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

bool ends(char32_t c) { return c == '.' || c == '!' || c == '?' || c == U'\u2026'; }
bool ends_without_space(char32_t c) {
  return c == U'\u3002' || c == U'\uFF01' || c == U'\uFF1F' || c == U'\uFF61';
}
bool closes(char32_t c) {
  constexpr std::u32string_view marks = U"\"')]}\u00BB\u201D\u2019\u203A\u201C\u300D\u300F\uFF09";
  return marks.find(c) != marks.npos;
}

// The position after the marks that close a sentence, if any begin at i.
size_t skip_marks(std::string_view line, size_t i) {
  while (i < line.size()) {
    size_t next = i;
    const char32_t c = next_code_point(line, next);
    if (!ends(c) && !ends_without_space(c) && !closes(c)) break;
    i = next;
  }
  return i;
}

// Whether the full stop at `stop` belongs to a number or to a single letter.
bool abbreviates(std::string_view line, size_t stop) {
  size_t begin = stop;
  while (begin > 0 && line[begin - 1] != ' ') --begin;
  const std::string_view word = line.substr(begin, stop - begin);
  const auto letters = std::ranges::count_if(word, [](char c) { return !is_continuation(c); });
  const bool digits = std::ranges::all_of(word, [](char c) { return std::isdigit(uint8_t(c)); });
  return word.empty() || digits || (letters == 1 && std::isalpha(uint8_t(word[0])));
}

// Whether the full stop is a token of its own, as in tokenised text, which is often all lower-case.
bool stands_alone(std::string_view line, size_t stop) {
  return stop > 0 && line[stop] == '.' && line[stop - 1] == ' ';
}

bool begins_sentence(std::string_view line, size_t i) {
  return i < line.size() && !std::islower(uint8_t(line[i]));
}

}  // namespace

std::vector<std::string_view> split_sentences(std::string_view line) {
  std::vector<std::string_view> out;
  size_t begin = 0;
  for (size_t i = 0; i < line.size();) {
    const size_t mark = i;
    const char32_t c = next_code_point(line, i);
    if (!ends(c) && !ends_without_space(c)) continue;
    i = skip_marks(line, i);
    size_t next = i;
    while (next < line.size() && line[next] == ' ') ++next;
    const bool one_stop = c == '.' && i == mark + 1;
    const bool apart =
        ends_without_space(c) || (next > i && one_stop && stands_alone(line, mark)) ||
        (next > i && begins_sentence(line, next) && !(one_stop && abbreviates(line, mark)));
    if (!apart || next == line.size()) continue;
    out.push_back(line.substr(begin, i - begin));
    begin = i = next;
  }
  if (begin < line.size() || out.empty()) out.push_back(line.substr(begin));
  return out;
}

std::vector<WordLink> parse_links(std::string_view line) {
  std::vector<WordLink> links;
  for (const std::string_view field : split_fields(line)) {
    std::string_view rest = field;
    WordLink link;
    bool good = take_number(rest, link.source) && !rest.empty();
    const char kind = good ? rest.front() : ' ';
    if (good) rest.remove_prefix(1);
    good = good && (kind == '-' || kind == '?' || kind == 'p') && take_number(rest, link.target) &&
           rest.empty();
    if (!good)
      throw DataError("'" + std::string(field) +
                      "' is not a link; write 0-1 for a sure one, 0?1 or 0p1 for a possible one");
    link.sure = kind == '-';
    links.push_back(link);
  }
  return links;
}

}  // namespace tx
