// The attention record, tx-attention(5): one JSON object per sentence, on one line.
#pragma once
#include <string>
#include <vector>

#include "lib/attention/extraction.h"

namespace tx {

// Row i of the maps of decoder and cross is the position that reads input[i] and predicts
// target[i].
struct AttentionRecord {
  int64_t line = 0;                 // in the input, from 1
  std::vector<std::string> source;  // pieces the encoder reads, </s> at the end
  std::vector<std::string> input;   // pieces the decoder reads, <s> in front
  std::vector<std::string> target;  // pieces it predicts, </s> at the end where it is complete
  std::string translation;          // text
  bool forced = false;              // the target was given
  std::vector<AttentionMaps> maps;  // one entry per kind selected; empty for a blank line
};

// The line with its '\n'. Weights are rounded to `digits` (1 to 9) decimal places, trailing zeros
// left out.
std::string format_record(const AttentionRecord& record, const Selection& selection, int digits);

}  // namespace tx
