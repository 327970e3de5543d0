// What the metrics need to know about characters. All text is valid UTF-8. White space and lower
// case are those of Python's str, in which the reference implementations of the metrics are
// written.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tx {

using Tokens = std::vector<std::string_view>;  // parts of a text that the caller keeps alive

// Bytes of the white-space character that begins at text[i]; 0 where none does. White space is
// U+0009..000D, 001C..0020, 0085, 00A0, 1680, 2000..200A, 2028, 2029, 202F, 205F, 3000.
size_t white_space(std::string_view text, size_t i);

// The parts between runs of white space; none is empty.
void split(std::string_view text, Tokens& tokens);

// Without the white space at the end, at the beginning.
std::string_view strip_right(std::string_view text);
std::string_view strip_left(std::string_view text);

// Number of characters.
size_t count_characters(std::string_view text);

// Lower case of whole texts, with the two exceptions to one character for one: U+0130 becomes i and
// U+0307, and a capital sigma at the end of a word becomes the final sigma (looked for through the
// marks of scripts that have case; Python also looks through those of the others).
class Lowercaser {
 public:
  Lowercaser();  // throws Error where the C library has no C.UTF-8 locale
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
