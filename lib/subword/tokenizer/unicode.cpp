#include "lib/subword/tokenizer/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "lib/base/utf8.h"

namespace tx {

namespace {

// Characters before U+0300 are composed and are no marks.
bool is_composed(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0xCC; });
}

template <class... Categories>
bool is_of(char32_t c, Categories... categories) {
  const utf8proc_category_t own = utf8proc_category(utf8proc_int32_t(c));
  return ((own == categories) || ...);
}

}  // namespace

void to_normal_form(std::string& text, NormalForm form) {
  if (is_ascii(text) || (form == NormalForm::nfc && is_composed(text))) return;
  const bool composes = form == NormalForm::nfc || form == NormalForm::nfkc;
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  const int options = UTF8PROC_STABLE | (composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                      (compatible ? UTF8PROC_COMPAT : 0);
  utf8proc_uint8_t* mapped = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   utf8proc_ssize_t(text.size()), &mapped, utf8proc_option_t(options));
  if (size < 0) throw std::bad_alloc();  // of valid UTF-8 nothing else is refused
  const std::unique_ptr<void, decltype(&std::free)> owner(mapped, std::free);
  text.assign(reinterpret_cast<const char*>(mapped), size_t(size));
}

void append_lower(std::string& text, char32_t c) {
  if (c == 0x130) {
    text += "i\xCC\x87";  // the only character whose lower case is longer
  } else {
    append_code_point(text, char32_t(utf8proc_tolower(utf8proc_int32_t(c))));
  }
}

void append_upper(std::string& text, char32_t c) {
  append_code_point(text, char32_t(utf8proc_toupper(utf8proc_int32_t(c))));
}

bool is_mark(char32_t c) {
  return is_of(c, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MC, UTF8PROC_CATEGORY_ME);
}

bool is_nonspacing_mark(char32_t c) { return is_of(c, UTF8PROC_CATEGORY_MN); }

bool is_format(char32_t c) {
  return is_of(c, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CF, UTF8PROC_CATEGORY_CO);
}

bool is_word(char32_t c) {
  const auto within = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  return is_mark(c) ||
         is_of(c, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LT,
               UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_LO, UTF8PROC_CATEGORY_ND,
               UTF8PROC_CATEGORY_NL, UTF8PROC_CATEGORY_PC) ||
         within(0x200C, 0x200D) ||  // the joiners; letters in circles and squares
         within(0x24B6, 0x24E9) || within(0x1F130, 0x1F149) || within(0x1F150, 0x1F169) ||
         within(0x1F170, 0x1F189);
}

bool ends_cluster(char32_t before, char32_t after, int32_t& state) {
  return utf8proc_grapheme_break_stateful(utf8proc_int32_t(before), utf8proc_int32_t(after),
                                          &state);
}

bool from_base64(std::string_view text, std::string& bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  if (text.size() % 4 == 1) return false;
  bytes.clear();
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t value = digits.find(c);
    if (value == digits.npos) return false;
    bits = bits << 6 | uint32_t(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += char(bits >> count);
  }
  return true;
}

}  // namespace tx
