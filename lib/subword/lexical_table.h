// Files that say which target tokens go with a source token, tx-shortlist(5): lines
// "SOURCE TAB TARGET TAB PROBABILITY"; without a source the share of a target token in all text.
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
  std::vector<Entry> frequent;                // of all text

  // Only the most probable entries of each list stay, so many at most, the most probable first; of
  // equals the lower id.
  void keep_best(size_t frequent_tokens, size_t each);
};

// DataError with file and line for a line of another form, a token that a vocabulary does not have,
// and a probability outside (0, 1]; with the file for one without lines.
LexicalTable read_lexical_table(const std::string& path, const Vocabulary& source,
                                const Vocabulary& target);
// The share of each target token first, then the source tokens by id.
void write_lexical_table(const LexicalTable& table, const Vocabulary& source,
                         const Vocabulary& target, Writer& out);

// The probability that `text` is; DataError, without a place, where it is none.
double parse_probability(std::string_view text);

}  // namespace tx
