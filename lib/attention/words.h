// Attention between words in place of tokens (Clark et al. 2019, section 4.1): the columns of a
// word's tokens are added, since each takes a part of what goes to the word; their rows are
// averaged, so that a row sums to 1 as before.
#pragma once
#include "lib/attention/record.h"
#include "lib/subword/word_groups.h"

namespace tx {

AttentionMap join_words(const AttentionMap& map, const WordGroups& rows, const WordGroups& columns);

// The words of the lists that rows and columns stand for.
struct RecordWords {
  WordGroups source, input, target;
  const WordGroups& of(std::string_view list) const {
    return list == "source" ? source : list == "input" ? input : target;
  }
};
RecordWords words_of(const AttentionRecord& record, const Vocabulary& source,
                     const Vocabulary& target);

// The record in words: tokens become words, weights those between words, log P the sum over the
// tokens of a word; ranks and all other quantities are left out.
AttentionRecord in_words(const AttentionRecord& record, const Selection& selection,
                         const RecordWords& words);

}  // namespace tx
