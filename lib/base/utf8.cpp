#include "lib/base/utf8.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>

namespace tx {

namespace {

// Length of the well-formed sequence at p, or minus that of an ill-formed one (Unicode 15, 3.9).
int sequence(const unsigned char* p, const unsigned char* end) {
  const unsigned char lead = *p;
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return -1;
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned char low = 0x80, high = 0xBF;  // bounds of the second byte
  if (lead == 0xE0) low = 0xA0;           // no overlong forms
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xED) high = 0x9F;  // no surrogates
  if (lead == 0xF4) high = 0x8F;  // nothing above U+10FFFF
  for (int i = 1; i < length; ++i) {
    if (p + i == end || p[i] < low || p[i] > high) return -i;
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

const unsigned char* skip_ascii(const unsigned char* p, const unsigned char* end) {
  uint64_t eight;
  while (end - p >= 8) {
    std::memcpy(&eight, p, 8);
    if (eight & 0x8080808080808080u) break;
    p += 8;
  }
  while (p != end && *p < 0x80) ++p;
  return p;
}

struct ClassRange {
  char32_t first, last;
  CharacterClass characters;
};

std::span<const ClassRange> class_ranges() {
  constexpr auto N = CharacterClass::number, P = CharacterClass::punctuation,
                 S = CharacterClass::symbol;
  static constexpr ClassRange ranges[] = {
#include "lib/base/unicode_categories.inc"
  };
  return ranges;
}

}  // namespace

int64_t count_invalid_utf8(std::string_view bytes) {
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* end = p + bytes.size();
  int64_t count = 0;
  while ((p = skip_ascii(p, end)) != end) {
    const int length = sequence(p, end);
    count += length < 0;
    p += length < 0 ? -length : length;
  }
  return count;
}

int64_t repair_utf8(std::string& bytes) {
  const int64_t count = count_invalid_utf8(bytes);
  if (count == 0) return 0;
  std::string out;
  out.reserve(bytes.size() + 2 * size_t(count));
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* end = p + bytes.size();
  while (p != end) {
    const int length = sequence(p, end);
    if (length > 0)
      out.append(reinterpret_cast<const char*>(p), size_t(length));
    else
      out += "\xEF\xBF\xBD";
    p += length < 0 ? -length : length;
  }
  bytes = std::move(out);
  return count;
}

bool is_control(char32_t c) {
  return (c < 0x20 && c != '\t') || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E ||
         c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string printable(std::string_view text) {
  const auto* begin = reinterpret_cast<const unsigned char*>(text.data());
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const int length = sequence(begin + i, begin + text.size());
    size_t end = i;
    const char32_t c = length < 0 ? begin[i] : next_code_point(text, end);
    char escape[8];
    if (length > 0 && !is_control(c)) {
      out += text.substr(i, size_t(length));
    } else if (c == '\n') {
      out += "\\n";
    } else {
      std::snprintf(escape, sizeof escape, length < 0 ? "\\x%02x" : "\\u%04x", unsigned(c));
      out += escape;
    }
    i += length < 0 ? 1 : size_t(length);
  }
  return out;
}

char32_t next_code_point(std::string_view text, size_t& i) {
  const auto byte = [&](size_t k) { return char32_t(static_cast<unsigned char>(text[k])); };
  const char32_t lead = byte(i++);
  const int more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  char32_t c = more == 0 ? lead : lead & (0x3Fu >> more);
  for (int k = 0; k < more && i < text.size(); ++k) c = (c << 6) | (byte(i++) & 0x3F);
  return c;
}

char32_t first_code_point(std::string_view text) {
  size_t i = 0;
  return next_code_point(text, i);
}

char32_t last_code_point(std::string_view text) {
  return first_code_point(text.substr(last_character(text)));
}

size_t last_character(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && text.size() - at < 4 && is_continuation(text[at])) --at;
  return at;
}

void append_code_point(std::string& text, char32_t c) {
  const auto add = [&](char32_t bits) { text += char(static_cast<unsigned char>(bits)); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | (c >> 6));
    add(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    add(0xE0 | (c >> 12));
    add(0x80 | ((c >> 6) & 0x3F));
    add(0x80 | (c & 0x3F));
  } else {
    add(0xF0 | (c >> 18));
    add(0x80 | ((c >> 12) & 0x3F));
    add(0x80 | ((c >> 6) & 0x3F));
    add(0x80 | (c & 0x3F));
  }
}

bool is_white_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_blank(std::string_view text) { return trimmed(text).empty(); }

std::string_view trimmed(std::string_view text) {
  for (size_t i = 0; i < text.size() && is_white_space(next_code_point(text, i)); i = 0)
    text.remove_prefix(i);
  while (!text.empty()) {
    const size_t last = last_character(text);
    if (!is_white_space(first_code_point(text.substr(last)))) break;
    text = text.substr(0, last);
  }
  return text;
}

CharacterClass class_of(char32_t c) {
  const auto ranges = class_ranges();
  const auto range = std::ranges::lower_bound(ranges, c, std::ranges::less{}, &ClassRange::last);
  return range != ranges.end() && range->first <= c ? range->characters : CharacterClass::other;
}

}  // namespace tx
