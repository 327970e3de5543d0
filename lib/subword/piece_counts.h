// How often each token occurs in a text, and files of such counts: on each line a token, a tab
// (SentencePiece) or a space (subword-nmt) and a count.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/io.h"
#include "lib/subword/vocabulary.h"
#include "lib/text/corpus.h"

namespace tx {

using TokenCounts = std::vector<std::pair<std::string, int64_t>>;

// The tokens into which the text is cut, the most frequent first, ties by id. The result
// does not depend on the number of threads.
TokenCounts count_tokens(TextReader& in, const Vocabulary& vocabulary, int threads);

// The tokens of such a file whose count is at least `threshold` (all, where there is none), in its
// order. A token alone on its line counts 1. A count that is not a number, an empty line, or bytes
// that are not UTF-8 are a DataError with the place.
std::vector<std::string> read_tokens(const std::string& path, std::optional<int> threshold);

void write_counts(const TokenCounts& counts, char separator, Writer& out);

}  // namespace tx
