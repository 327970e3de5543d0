// The attention record, tx-attention(5): one JSON object per sentence, on one line.
#pragma once
#include <string>
#include <vector>

#include "lib/attention/extraction.h"
#include "lib/base/json.h"

namespace tx {

// Row i of decoder and cross is the position that reads input[i] and predicts target[i]. Lists are
// empty for a blank line.
struct AttentionRecord : Extracted {
  int64_t line = 0;                 // in the input, from 1
  std::vector<std::string> source;  // tokens the encoder reads, </s> at the end
  std::vector<std::string> input;   // tokens the decoder reads, <s> in front
  std::vector<std::string> target;  // tokens it predicts, </s> at the end where it is complete
  std::vector<int> source_ids, input_ids, target_ids;  // their numbers
  // Of a record in words, which source and target then hold: the first id of each, and their end.
  std::vector<int64_t> source_starts, target_starts;
  std::string text;         // the line as read
  std::string translation;  // as text
  bool forced = false;      // the target was given
};

// Which of the three lists the rows and columns of a kind stand for: "source", "input", "target".
const char* rows_of(AttentionKind kind, const Selection& selection);
const char* columns_of(AttentionKind kind);
const std::vector<std::string>& tokens_of(const AttentionRecord& record, std::string_view list);

// Everything of the record but its arrays: line, tokens, ids, texts, and what was selected.
Json record_head(const AttentionRecord& record, const Selection& selection);
// The line with its '\n'. Numbers are rounded to `digits` (1 to 9) decimal places, trailing zeros
// left out; minus infinity is null.
std::string format_record(const AttentionRecord& record, const Selection& selection, int digits);

}  // namespace tx
