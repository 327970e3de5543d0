// UTF-8, white space and the classes of characters.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tx {

// The number of ill-formed sequences (maximal subparts, Unicode 15 section 3.9); 0 means valid.
int64_t count_invalid_utf8(std::string_view bytes);

// Replaces each ill-formed sequence by U+FFFD in place; returns how many there were.
int64_t repair_utf8(std::string& bytes);

// Whether it could move a terminal's cursor, end its line or change the direction of writing.
bool is_control(char32_t c);
// Text from files for a terminal: such characters and bytes that are not UTF-8 are escaped.
std::string printable(std::string_view text);

// Whether this byte of valid UTF-8 continues a code point.
inline bool is_continuation(char byte) { return (uint8_t(byte) & 0xC0) == 0x80; }

// Decodes the code point at text[i] of valid UTF-8 and advances i past it.
char32_t next_code_point(std::string_view text, size_t& i);
// Of a text that is not empty.
char32_t first_code_point(std::string_view text);
char32_t last_code_point(std::string_view text);
size_t last_character(std::string_view text);  // where it begins
void append_code_point(std::string& text, char32_t c);

// White space is Unicode's property White_Space. A line is blank if it is empty or only white
// space; trimmed() removes white space at both ends of valid UTF-8. Metrics have a definition of
// their own, that of the reference tools (lib/eval/tokenizers/unicode.h).
bool is_white_space(char32_t c);
bool is_blank(std::string_view text);
std::string_view trimmed(std::string_view text);

// Numbers, punctuation and symbols are the Unicode categories N, P and S.
enum class CharacterClass : uint8_t { other, number, punctuation, symbol };
CharacterClass class_of(char32_t c);

}  // namespace tx
