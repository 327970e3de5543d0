// Lexical translation tables for shortlists, tx-shortlist(5): lines "SOURCE TAB TARGET TAB
// PROBABILITY"; without a source the relative frequency of a target token.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/io.h"
#include "lib/subword/vocabulary.h"

namespace tx {

struct LexicalTable {
  struct Entry {
    int32_t token = 0;  // of the target
    double probability = 0;
  };
  std::vector<std::vector<Entry>> of_source;  // by id
  std::vector<Entry> frequent;                // of the whole text

  // Keeps at most this many entries of each list, by descending probability, ties by id.
  void keep_best(size_t frequent_tokens, size_t each);
};

// DataError with file and line: malformed, an unknown token, a probability outside (0, 1].
LexicalTable read_lexical_table(const std::string& path, const Vocabulary& source,
                                const Vocabulary& target);
// The frequencies of target tokens first, then the source tokens by id.
void write_lexical_table(const LexicalTable& table, const Vocabulary& source,
                         const Vocabulary& target, Writer& out);

// Throws DataError, without a place, if `text` is not a probability.
double parse_probability(std::string_view text);

}  // namespace tx
