// Lexical shortlists (Jean et al., 2015): the tokens allowed in the output of a line.
#pragma once
#include <cstdint>
#include <vector>

#include "lib/search/options.h"
#include "lib/search/rules/token_texts.h"
#include "lib/search/source.h"
#include "lib/subword/lexical_table.h"

namespace tx {

class Shortlist {
 public:
  // Reads the file that the options name; DataError as read_lexical_table().
  Shortlist(const SearchOptions& options, const Vocabulary& source, const Vocabulary& target);
  // Target ids, ascending: <eos>, the most frequent tokens, the most probable ones of each source
  // token, and those of Source::prefix, ::rest and ::phrases. All byte tokens if the source has
  // one, otherwise none: an output can then always complete a character.
  std::vector<int32_t> list(const Source& source) const;

 private:
  void add_rest(std::string_view text, std::vector<bool>& held) const;

  TokenTexts texts_;
  LexicalTable table_;
  std::vector<int> forbidden_, ends_;
  std::vector<bool> source_byte_, target_byte_;  // by id
};

}  // namespace tx
