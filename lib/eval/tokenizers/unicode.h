// White space, words and lower case of valid UTF-8, as defined by Python's str, which the reference
// implementations of the metrics use.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tx {

using Tokens = std::vector<std::string_view>;  // parts of a text that the caller keeps alive

// The number of bytes of the white-space character at text[i]; 0 if there is none. White space is
// U+0009..000D, 001C..0020, 0085, 00A0, 1680, 2000..200A, 2028, 2029, 202F, 205F, 3000.
size_t white_space(std::string_view text, size_t i);

// The non-empty parts between white space.
void split(std::string_view text, Tokens& tokens);

// Removes white space at the end, or at the beginning.
std::string_view strip_right(std::string_view text);
std::string_view strip_left(std::string_view text);

size_t count_characters(std::string_view text);

// Lower case of text, with two context-dependent rules: U+0130 becomes i and U+0307, and a capital
// sigma at the end of a word becomes the final sigma (the context skips the marks of scripts that
// have case; Python also skips those of other scripts).
class Lowercaser {
 public:
  Lowercaser();  // throws Error if the C library has no C.UTF-8 locale
  ~Lowercaser();
  Lowercaser(const Lowercaser&) = delete;
  Lowercaser& operator=(const Lowercaser&) = delete;
  void apply(std::string_view text, std::string& lowered) const;

 private:
  bool cased(char32_t c) const;
  bool final_sigma(std::string_view before, std::string_view after) const;
  void* locale_;
};

}  // namespace tx
