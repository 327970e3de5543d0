#include "lib/eval/tokenizers/unicode.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <iterator>

#include "lib/base/error.h"
#include "lib/base/utf8.h"

namespace tx {
namespace {

constexpr char32_t capital_sigma = 0x3A3, small_sigma = 0x3C3, final_small_sigma = 0x3C2;
constexpr char32_t capital_dotted_i = 0x130, combining_dot = 0x307;

struct Range {
  char32_t first, last;
};

// Characters that do not end a word for the sigma rule (Case_Ignorable), of scripts with case.
constexpr Range ignorable_ranges[] = {
    {'\'', '\''},     {'.', '.'},       {':', ':'},       {'^', '^'},       {'`', '`'},
    {0xA8, 0xA8},     {0xAD, 0xAD},     {0xAF, 0xAF},     {0xB4, 0xB4},     {0xB7, 0xB8},
    {0x2B0, 0x36F},   {0x374, 0x375},   {0x37A, 0x37A},   {0x384, 0x385},   {0x387, 0x387},
    {0x483, 0x489},   {0x559, 0x559},   {0x55F, 0x55F},   {0x1D2C, 0x1D6A}, {0x1D78, 0x1D78},
    {0x1D9B, 0x1DFF}, {0x1FBD, 0x1FBD}, {0x1FBF, 0x1FC1}, {0x1FCD, 0x1FCF}, {0x1FDD, 0x1FDF},
    {0x1FED, 0x1FEF}, {0x1FFD, 0x1FFE}, {0x200B, 0x200F}, {0x2018, 0x2019}, {0x2024, 0x2024},
    {0x2027, 0x2027}, {0x202A, 0x202E}, {0x2060, 0x2064}, {0x2066, 0x206F}, {0x20D0, 0x20F0},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
};

bool ignorable(char32_t c) {
  const auto* range = std::lower_bound(std::begin(ignorable_ranges), std::end(ignorable_ranges), c,
                                       [](const Range& r, char32_t x) { return r.last < x; });
  return range != std::end(ignorable_ranges) && range->first <= c;
}

}  // namespace

size_t white_space(std::string_view text, size_t i) {
  const auto at = [&](size_t k) { return i + k < text.size() ? uint8_t(text[i + k]) : 0; };
  const uint8_t byte = at(0);
  if (byte <= 0x20) return (byte >= 0x09 && byte <= 0x0D) || byte >= 0x1C ? 1 : 0;
  switch (byte) {
    case 0xC2:
      return at(1) == 0x85 || at(1) == 0xA0 ? 2 : 0;
    case 0xE1:
      return at(1) == 0x9A && at(2) == 0x80 ? 3 : 0;
    case 0xE2:
      if (at(1) == 0x81) return at(2) == 0x9F ? 3 : 0;
      if (at(1) != 0x80) return 0;
      if (at(2) >= 0x80 && at(2) <= 0x8A) return 3;
      return at(2) == 0xA8 || at(2) == 0xA9 || at(2) == 0xAF ? 3 : 0;
    case 0xE3:
      return at(1) == 0x80 && at(2) == 0x80 ? 3 : 0;
    default:
      return 0;
  }
}

void split(std::string_view text, Tokens& tokens) {
  tokens.clear();
  size_t begin = 0, i = 0;
  while (i < text.size()) {
    // Fast path: no white space begins with 0x21..0xC1.
    const bool inside = uint8_t(text[i]) > 0x20 && uint8_t(text[i]) < 0xC2;
    const size_t bytes = inside ? 0 : white_space(text, i);
    if (bytes == 0) {
      ++i;
      continue;
    }
    if (i > begin) tokens.push_back(text.substr(begin, i - begin));
    i += bytes;
    begin = i;
  }
  if (i > begin) tokens.push_back(text.substr(begin, i - begin));
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    size_t i = text.size() - 1;
    while (i > 0 && is_continuation(text[i])) --i;
    if (white_space(text, i) != text.size() - i) break;
    text.remove_suffix(text.size() - i);
  }
  return text;
}

std::string_view strip_left(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = white_space(text, 0);
    if (bytes == 0) break;
    text.remove_prefix(bytes);
  }
  return text;
}

size_t count_characters(std::string_view text) {
  return size_t(
      std::count_if(text.begin(), text.end(), [](char b) { return !is_continuation(b); }));
}

Lowercaser::Lowercaser() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
  if (locale_ == nullptr)
    throw Error("no C.UTF-8 locale for --lowercase; install the system's basic locales");
}

Lowercaser::~Lowercaser() { freelocale(locale_t(locale_)); }

bool Lowercaser::cased(char32_t c) const {
  const auto locale = locale_t(locale_);
  return iswlower_l(wint_t(c), locale) != 0 || iswupper_l(wint_t(c), locale) != 0;
}

// Whether a cased letter precedes it and none follows, skipping ignorable characters.
bool Lowercaser::final_sigma(std::string_view before, std::string_view after) const {
  char32_t c = 0;
  while (!before.empty()) {
    size_t i = before.size() - 1;
    while (i > 0 && is_continuation(before[i])) --i;
    size_t j = i;
    c = next_code_point(before, j);
    before.remove_suffix(before.size() - i);
    if (!ignorable(c)) break;
    c = 0;
  }
  if (c == 0 || !cased(c)) return false;
  for (size_t i = 0; i < after.size();) {
    c = next_code_point(after, i);
    if (!ignorable(c)) return !cased(c);
  }
  return true;
}

void Lowercaser::apply(std::string_view text, std::string& lowered) const {
  lowered.clear();
  for (size_t i = 0; i < text.size();) {
    if (uint8_t(text[i]) < 0x80) {
      const char c = text[i++];
      lowered.push_back(c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c);
      continue;
    }
    const size_t begin = i;
    const char32_t c = next_code_point(text, i);
    if (c == capital_sigma) {
      const bool last = final_sigma(text.substr(0, begin), text.substr(i));
      append_code_point(lowered, last ? final_small_sigma : small_sigma);
    } else if (c == capital_dotted_i) {
      lowered.push_back('i');
      append_code_point(lowered, combining_dot);
    } else {
      append_code_point(lowered, char32_t(towlower_l(wint_t(c), locale_t(locale_))));
    }
  }
}

}  // namespace tx
