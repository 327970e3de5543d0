// Splitting, joining, parsing and quoting text.
#pragma once
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tx {

// One part more than there are separators: "a,,b" is {"a", "", "b"}, and "" is {""}.
std::vector<std::string> split_at(std::string_view text, char at);
std::string joined(const std::vector<std::string>& texts, std::string_view between);
// The non-empty fields between spaces, tabs and carriage returns.
std::vector<std::string_view> split_fields(std::string_view line);
// Removes a decimal number from the beginning of `text`; false and unchanged if there is none.
bool take_number(std::string_view& text, uint32_t& number);
// Whether the whole text is a number of this type; otherwise `number` is unspecified.
template <class T>
bool parse_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}
// The shortest text that yields the same number.
template <class T>
std::string shortest(T number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}
// From left to right, without reading what was put in.
void replace_all(std::string& text, std::string_view from, std::string_view to);
// The text as one word of the shell, quoted if need be. A leading "-" may still be an option.
std::string shell_word(const std::string& text);

}  // namespace tx
