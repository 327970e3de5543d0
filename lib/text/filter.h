// Streams of lines through a vocabulary: a line of text becomes a line of pieces or ids and back.
#pragma once
#include "lib/base/io.h"
#include "lib/text/corpus.h"
#include "lib/text/vocabulary.h"

namespace tx {

struct FilterOptions {
  bool ids = false;  // decimal ids instead of the pieces' text
  int threads = 1;   // the output does not depend on it
};

// Pieces, or with `ids` decimal ids, joined by single spaces; and the way back: a word that is no
// piece (id) of the vocabulary is a DataError.
std::string join_pieces(const Vocabulary& vocabulary, std::span<const int> pieces, bool ids);
std::vector<int> split_pieces(const Vocabulary& vocabulary, std::string_view line, bool ids);

// One line out for each line in, in order: pieces or ids, joined by single spaces. What has arrived
// is written before more is waited for, so both work at the other end of a pipe that answers.
void encode_lines(TextReader& in, const Vocabulary& vocabulary, const FilterOptions& options,
                  Writer& out);

// The way back. A word that is no piece (or no id) of the vocabulary is a DataError that names its
// line; the lines before it have been written.
void decode_lines(TextReader& in, const Vocabulary& vocabulary, const FilterOptions& options,
                  Writer& out);

// Every entry in the order of ids: id, tab, piece.
void write_listing(const Vocabulary& vocabulary, Writer& out);

}  // namespace tx
