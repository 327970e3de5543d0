// The lines of a file of word alignments beside the ids of the lines they belong to.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "lib/subword/word_groups.h"
#include "lib/text/parse.h"

namespace tx {

class LinkLines {
 public:
  // first: where the file's first line is, "FILE:1".
  LinkLines(const std::string& first, const Vocabulary& source, const Vocabulary& target);
  // The links of a line, each once, by target word, then by source word, sure and possible ones
  // alike. DataError, which begins with the place, for what is no link and for a word that the line
  // does not have. May be called by several threads.
  std::vector<WordLink> read(const std::string& text, int64_t line, std::span<const int> source,
                             std::span<const int> target) const;

 private:
  std::string file_;
  WordStarts source_, target_;
};

}  // namespace tx
