#include "lib/text/parse.h"

#include <algorithm>
#include <string>

#include "lib/base/error.h"
#include "lib/base/split.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

// A letter in lower case of Latin, Greek, Cyrillic or Armenian, but for rare ones.
bool is_lower_case(char32_t c) {
  struct Range {
    char32_t first, last, step;
  };
  static constexpr Range ranges[] = {{0x61, 0x7A, 1},   {0xDF, 0xF6, 1},   {0xF8, 0xFF, 1},
                                     {0x101, 0x137, 2}, {0x138, 0x148, 2}, {0x149, 0x177, 2},
                                     {0x17A, 0x17E, 2}, {0x1A1, 0x1A5, 2}, {0x1B0, 0x1B0, 1},
                                     {0x1CE, 0x1DC, 2}, {0x1DF, 0x233, 2}, {0x250, 0x2AF, 1},
                                     {0x390, 0x390, 1}, {0x3AC, 0x3CE, 1}, {0x430, 0x45F, 1},
                                     {0x461, 0x481, 2}, {0x48B, 0x4BF, 2}, {0x4C2, 0x4CE, 2},
                                     {0x4CF, 0x52F, 2}, {0x560, 0x588, 1}, {0x1E01, 0x1EFF, 2}};
  return std::ranges::any_of(ranges,
                             [&](const Range& r) {
                               return r.first <= c && c <= r.last && (c - r.first) % r.step == 0;
                             }) ||
         (c >= 0x1F00 && c < 0x2000 && (c & 8) == 0);  // Greek with breathings
}

bool among(char32_t c, std::u32string_view marks) { return marks.find(c) != marks.npos; }

bool ends(char32_t c) { return among(c, U".!?\u2026\u203C\u203D\u2047\u2048\u2049\u037E"); }
// Full stops, question and exclamation marks of Armenian, Arabic, Syriac, N'Ko, Indic, Burmese,
// Ethiopic, Khmer, Mongolian, Ol Chiki, Meetei, Chinese and Japanese.
bool ends_without_space(char32_t c) {
  return among(c,
               U"\u0589\u061E\u061F\u06D4\u0700\u0701\u0702\u07F9\u0964\u0965\u104B\u1362\u1367"
               U"\u1368\u17D4\u17D5\u1803\u1809\u1C7E\u1C7F\uABEB\u3002\uFE12\uFE52\uFE56\uFE57"
               U"\uFF01\uFF0E\uFF1F\uFF61");
}
bool closes(char32_t c) {
  return among(c,
               U"\"')]}\u00AB\u00BB\u2018\u2019\u201C\u201D\u2039\u203A\u3009\u300B\u300D\u300F"
               U"\u3011\u3015\uFF02\uFF07\uFF09\uFF3D\uFF5D\uFF63");
}
bool is_greek(char32_t c) { return (c >= 0x370 && c < 0x400) || (c >= 0x1F00 && c < 0x2000); }
bool joins(char32_t c) { return c == 0xA0 || c == 0x2007 || c == 0x202F; }  // no-break spaces

char32_t code_point_at(std::string_view line, size_t i) { return next_code_point(line, i); }
bool space_at(std::string_view line, size_t i) { return is_white_space(code_point_at(line, i)); }

// The position after the marks that close a sentence from i on; `free`: one needs no space.
size_t skip_marks(std::string_view line, size_t i, bool& free) {
  for (size_t next = i; next < line.size(); i = next) {
    char32_t c = next_code_point(line, next);
    if (is_white_space(c) && next < line.size()) {
      c = next_code_point(line, next);
      if (!among(c, U"\u00BB\u203A") || (next < line.size() && !space_at(line, next))) break;
    }
    free = free || ends_without_space(c);
    if (!ends(c) && !ends_without_space(c) && !closes(c)) break;
  }
  return i;
}

// Whether the full stop at `stop` belongs to a number or to a single letter.
bool abbreviates(std::string_view line, size_t stop) {
  size_t begin = stop;
  for (size_t i = stop; i-- > 0 && (is_continuation(line[i]) || !space_at(line, i));)
    if (!is_continuation(line[i])) begin = i;
  int letters = 0, digits = 0, others = 0;
  for (size_t i = begin; i < stop;) {
    const char32_t c = next_code_point(line, i);
    const CharacterClass kind = class_of(c);
    const bool accent = c >= 0x300 && c < 0x370;
    if (kind == CharacterClass::punctuation && letters + digits == 0) continue;
    digits += kind == CharacterClass::number;
    letters += kind == CharacterClass::other && !accent;
    others += kind == CharacterClass::punctuation || kind == CharacterClass::symbol;
  }
  return begin == stop || (others == 0 && (letters == 0 ? digits > 0 : letters + digits == 1));
}

// Whether the full stop is a token of its own, as in tokenised text, which is often all lower-case.
bool stands_alone(std::string_view line, size_t stop) {
  return stop > 0 && line[stop] == '.' && line[stop - 1] == ' ';
}

// Whether the first letter or digit from i on can begin a sentence.
bool begins_sentence(std::string_view line, size_t i) {
  while (i < line.size()) {
    const char32_t c = next_code_point(line, i);
    if (!is_white_space(c) && class_of(c) != CharacterClass::punctuation) return !is_lower_case(c);
  }
  return true;
}

}  // namespace

std::vector<std::string_view> split_sentences(std::string_view line) {
  std::vector<std::string_view> out;
  size_t begin = 0;
  char32_t before = 0;
  for (size_t i = 0; i < line.size();) {
    const size_t mark = i;
    const char32_t c = next_code_point(line, i);
    bool free = ends_without_space(c);
    const bool mark_here = free || ends(c) || (c == ';' && is_greek(before));
    before = c;
    if (!mark_here) continue;
    const bool one_stop = c == '.' || c == U'\uFF0E';
    const size_t after = i;
    i = skip_marks(line, i, free);
    size_t next = i;
    for (size_t at = i; at < line.size(); next = at) {
      const char32_t space = next_code_point(line, at);
      if (!is_white_space(space) || joins(space)) break;
    }
    const bool abbreviation = one_stop && i == after && abbreviates(line, mark);
    const bool apart = free ? !abbreviation
                            : next > i && ((i == after && stands_alone(line, mark)) ||
                                           (begins_sentence(line, next) && !abbreviation));
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
