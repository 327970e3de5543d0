// Counts of the words of a corpus. Vocabularies are trained from these alone, so memory grows with
// the number of different words and not with the text.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

namespace tx {

using WordCounts = std::unordered_map<std::string, int64_t>;

// Gives the next line, false at the end.
using LineSource = std::function<bool(std::string&)>;

// Words are separated by ASCII white space and control characters.
constexpr bool separates_words(char c) {
  return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F;
}

// Counts the words of lines of valid UTF-8 (TextReader gives such) on `threads` threads; the result
// depends on the text alone.
WordCounts count_words(const LineSource& lines, int threads);

}  // namespace tx
