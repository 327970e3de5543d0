// Unicode: normal forms, lower case, categories and grapheme clusters, by utf8proc.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tx {

enum class NormalForm { nfc, nfd, nfkc, nfkd };
// Of valid UTF-8, in place.
void to_normal_form(std::string& text, NormalForm form);

// Append its lower or upper case, without the special cases of languages.
void append_lower(std::string& text, char32_t c);
void append_upper(std::string& text, char32_t c);

bool is_mark(char32_t c);             // categories Mn, Mc, Me
bool is_nonspacing_mark(char32_t c);  // Mn
bool is_format(char32_t c);           // Cc, Cf, Co
bool is_word(char32_t c);             // \w of UTS 18, annex C

inline bool is_ascii(std::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

// Whether a grapheme cluster ends between two code points; `state` is 0 at the beginning of a text.
bool ends_cluster(char32_t before, char32_t after, int32_t& state);

// The bytes of base64; false if it is malformed.
bool from_base64(std::string_view text, std::string& bytes);

}  // namespace tx
