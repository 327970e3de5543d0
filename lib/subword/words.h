// Words of a text: counting and sampling, for training vocabularies, and the vocabulary of plain
// words. Memory grows with the number of different words or sampled lines.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/subword/vocabulary.h"

namespace tx {

using WordCounts = std::unordered_map<std::string, int64_t>;

// Returns the next line; false at the end.
using LineSource = std::function<bool(std::string&)>;

// Words are separated by ASCII white space and control characters.
constexpr bool separates_words(char c) {
  return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F;
}

// Counts the words of lines of valid UTF-8 on `threads` threads, which do not affect the result.
WordCounts count_words(const LineSource& lines, int threads);

// A uniform sample of `size` lines (Vitter's algorithm R, 1985) in no particular order; all lines
// if there are fewer. A pure function of the source, the size and the seed.
std::vector<std::string> sample_lines(const LineSource& lines, int64_t size, uint64_t seed);

// A source that reads these lines.
LineSource source_of(const std::vector<std::string>& lines);

// The vocabulary of plain words. Its file is text: the line "tx-words 1", then one word per line;
// the line number minus 2 is the id, and the first four words are <pad>, <unk>, <s>, </s>. Other
// words encode to unk; decode() joins with one space.
inline constexpr std::string_view words_magic = "tx-words 1\n";

// The file's content for the most frequent words, by count and then by bytes; with the four special
// tokens at most `size` entries (0: all). DataError if there are no words.
std::string train_words(const WordCounts& counts, int size = 0);

std::unique_ptr<Vocabulary> parse_words(std::string bytes, const std::string& where);

}  // namespace tx
