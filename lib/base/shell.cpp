#include "lib/base/shell.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace tx {

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
