// The attention record, tx-attention(5): one JSON object per sentence, on one line.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "lib/attention/extraction.h"
#include "lib/base/json.h"
#include "lib/subword/word_groups.h"

namespace tx {

// The version of the record in tx-attention(5).
constexpr int record_version = 1;

// The model of a record: its file, and the hashes of the vocabularies of the sides that it has.
struct RecordModel {
  std::string name, source_vocabulary, target_vocabulary;
};

// Row i of decoder and cross reads input[i] and predicts target[i]. Empty for a blank line.
struct AttentionRecord : Extracted {
  RecordModel model;
  int64_t line = 0;  // in the input, from 1
  // Tokens the encoder reads: with </s>, or in a model of kind encoder beginning with <s>.
  std::vector<std::string> source;
  std::vector<std::string> input;   // tokens the decoder reads, starting with <s>
  std::vector<std::string> target;  // tokens it predicts, with </s> if complete
  std::vector<int> source_ids, input_ids, target_ids;  // their ids
  // With selection.words: index of each word's first id, and the end.
  std::vector<int64_t> source_starts, target_starts;
  std::string text;         // the line as read
  std::string translation;  // as text
  bool forced = false;      // the target was given

  bool blank() const { return source.empty() && target.empty(); }
};

// The list that labels the rows or columns of a kind: "source", "input" or "target".
const char* rows_of(AttentionKind kind, const Selection& selection);
const char* columns_of(AttentionKind kind);
const std::vector<std::string>& tokens_of(const AttentionRecord& record, std::string_view list);

// The record without its arrays: line, tokens, ids, texts, and the selection.
Json record_head(const AttentionRecord& record, const Selection& selection);
// The JSON line with its '\n', rounded to `digits` (1 to 9) decimal places; minus infinity is null.
std::string format_record(const AttentionRecord& record, const Selection& selection, int digits);

// The `columns` largest entries of each row, descending; ties: lower column. Shape (rows, columns).
struct TopEntries {
  int64_t rows = 0, columns = 0;
  std::vector<int32_t> indices;
  std::vector<float> values;
};
// `count` per row, or all if a row has fewer.
TopEntries top_of_rows(const AttentionMap& map, int count);

// Attention between words instead of tokens (Clark et al. 2019, section 4.1): the columns of a
// word's tokens are summed, their rows averaged, so that rows still sum to 1.
AttentionMap join_words(const AttentionMap& map, const WordGroups& rows, const WordGroups& columns);

// The words of the three lists of a record.
struct RecordWords {
  WordGroups source, input, target;
  const WordGroups& of(std::string_view list) const {
    return list == "source" ? source : list == "input" ? input : target;
  }
};
RecordWords words_of(const AttentionRecord& record, const Vocabulary& source,
                     const Vocabulary& target);
// Replaces the name of mask_token, which the text of an encoder contains only for masks.
void name_masks(std::vector<std::string>& tokens);

// The record in words: weights between words, log P summed. Ranks and other quantities are dropped.
AttentionRecord in_words(const AttentionRecord& record, const Selection& selection,
                         const RecordWords& words);

}  // namespace tx
