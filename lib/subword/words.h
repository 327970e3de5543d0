// The vocabulary of plain words (separates_words() tells what separates them). The file is
// text: the line "tx-words 1", then one word per line; the line number less 2 is the id, the first
// four words are <pad>, <unk>, <s>, </s>. A word not listed encodes to unk; decode() joins with one
// space.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lib/subword/vocabulary.h"
#include "lib/subword/word_count.h"

namespace tx {

inline constexpr std::string_view words_magic = "tx-words 1\n";

// The most frequent words, by count and then by bytes; with the four specials at most `size`
// entries (0: all). Returns the file's content. A corpus without words is a DataError.
std::string train_words(const WordCounts& counts, int size = 0);

std::unique_ptr<Vocabulary> parse_words(std::string bytes, const std::string& where);

}  // namespace tx
