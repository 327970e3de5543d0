// How wide a terminal shows a text.
#include <algorithm>
#include <iterator>

#include "lib/attention/heatmap.h"
#include "lib/base/utf8.h"

namespace tx {

namespace {

struct Range {
  char32_t first, last;
};

// Blocks of East Asian wide characters and emoji (Unicode's EastAsianWidth W and F, by block).
constexpr Range wide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},  {0xA960, 0xA97F}, {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},  {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
// The combining marks of the scripts most written, joiners and variation selectors.
constexpr Range zero[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},
                          {0x0670, 0x0670}, {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D},
                          {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x200B, 0x200F},
                          {0x20D0, 0x20FF}, {0x302A, 0x302D}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};

template <size_t N>
bool in(const Range (&ranges)[N], char32_t c) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](const Range& r) { return c >= r.first && c <= r.last; });
}

int width_of(char32_t c) { return in(zero, c) ? 0 : in(wide, c) ? 2 : 1; }

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  for (size_t i = 0; i < text.size();) width += width_of(next_code_point(text, i));
  return width;
}

std::string shorten(const std::string& text, int columns) {
  if (display_width(text) <= columns) return text;
  size_t end = 0;
  for (int used = 1; end < text.size();) {  // 1: the dots
    size_t next = end;
    used += width_of(next_code_point(text, next));
    if (used > columns) break;
    end = next;
  }
  return text.substr(0, end) + "\u2026";
}

}  // namespace tx
