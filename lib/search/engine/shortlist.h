// Lexical shortlists (Jean et al., 2015): the tokens that the output of a line may have. They
// depend on the line alone.
#pragma once
#include <cstdint>
#include <vector>

#include "lib/search/options.h"
#include "lib/search/source.h"
#include "lib/subword/lexical_table.h"

namespace tx {

class Shortlist {
 public:
  // Reads the file that the options name; DataError as read_lexical_table().
  Shortlist(const SearchOptions& options, const Vocabulary& source, const Vocabulary& target);
  // Ids of the target, ascending: <eos>, the most frequent tokens, the best ones for each token of
  // the source, and the tokens of Source::prefix and Source::phrases. Tokens of single bytes
  // are among them, and all of these, where the source has such a token: a character then can be
  // spelt to its end.
  std::vector<int32_t> list(const Source& source) const;

 private:
  LexicalTable table_;
  std::vector<int> forbidden_;
  std::vector<bool> source_byte_, target_byte_;  // by id
};

}  // namespace tx
