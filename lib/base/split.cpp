#include "lib/base/split.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace tx {

std::vector<std::string> split_at(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
  std::string out;
  for (const std::string& text : texts) out.append(out.empty() ? "" : between).append(text);
  return out;
}

std::vector<std::string_view> split_fields(std::string_view line) {
  constexpr std::string_view spaces = " \t\r";
  std::vector<std::string_view> fields;
  for (size_t begin = 0; (begin = line.find_first_not_of(spaces, begin)) < line.size();) {
    const size_t end = std::min(line.find_first_of(spaces, begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return fields;
}

bool take_number(std::string_view& text, uint32_t& number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc()) return false;
  text.remove_prefix(size_t(result.ptr - text.data()));
  return true;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  size_t found = text.find(from);
  if (found == std::string::npos) return;
  std::string result;
  size_t begin = 0;
  for (; found != std::string::npos; found = text.find(from, begin)) {
    result.append(text, begin, found - begin).append(to);
    begin = found + from.size();
  }
  result.append(text, begin);
  text.swap(result);
}

std::string shell_word(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c >= 128 || std::isalnum(c) || std::strchr("_./=:,+-@%", c);
  });
  if (plain && !text.empty()) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace tx
