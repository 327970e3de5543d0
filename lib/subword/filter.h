// Streams of lines: mapped on several threads, and joined from tokens or ids.
#pragma once
#include <functional>

#include "lib/base/io.h"
#include "lib/subword/vocabulary.h"
#include "lib/text/corpus.h"

namespace tx {

// Changes a line, whose number over all files is given, in place. A DataError it throws gets the
// place of the line in front.
using LineMap = std::function<void(std::string& line, int64_t number)>;

// One line out for each line in, in order; it writes what has arrived before it waits for more.
// The output does not depend on the number of threads. After a failure, too, it is the same: all
// lines before the first one that `map` refuses.
void map_lines(TextReader& in, int threads, Writer& out, const LineMap& map);

// Tokens, or with `ids` decimal ids, joined by single spaces; and the way back: a word that is not
// a token (id) of the vocabulary is a DataError.
std::string join_tokens(const Vocabulary& vocabulary, std::span<const int> tokens, bool ids);
std::vector<int> split_tokens(const Vocabulary& vocabulary, std::string_view line, bool ids);

// Lines of tokens, or of ids, into text. A word that is not a token (or id) of the vocabulary is a
// DataError that names its line and the word.
void decode_lines(TextReader& in, const Vocabulary& vocabulary, bool ids, int threads, Writer& out);

// Every entry in the order of ids: id, tab, token; of a subword model tab and score too.
void write_listing(const Vocabulary& vocabulary, Writer& out);

}  // namespace tx
