// Translates a stream of lines: as many lines out as in, in order. Lines are read as they arrive;
// when the input pauses, what has arrived is translated, written and flushed. Memory does not grow
// with the input.
#pragma once
#include <functional>

#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/search/lines/line_progress.h"
#include "lib/search/lines/lines.h"
#include "lib/text/corpus.h"

namespace tx {

// The sums over the lines answered, best outputs alone.
struct ScoredText {
  double log_p = 0;
  int64_t labels = 0;  // tokens and ends
};

// "log P -1234.5 over 600 tokens, ends counted: perplexity 7.826".
std::string describe_scored(const ScoredText& scored);

struct StreamOutput {
  Writer& lines;
  Writer* status = nullptr;  // of the records of lines, tx-status(5); null: none are written
  LineProgress* progress = nullptr;  // counts finished lines
  // Where set: changes the outputs of a line before they are written. Called on several threads.
  std::function<void(Translation&)> rank = {};
  // Where set: a further column of each output. Called on several threads.
  std::function<std::string(const Source&, const TokenHypothesis&)> column = {};
  ScoredText* scored = nullptr;  // where sums go, added in the order of the lines
};

// Over-long lines are cut with a warning each (the first ten) and a count at the end. The second
// text of `in`, where there is one, holds translations to score (SearchOptions::forced_target). An
// input that fails (--strict, a word that is not a token, texts of different length) is rethrown
// once the lines before it are written.
void translate_stream(LinePairs& in, const Translator& translator, const LineOptions& options,
                      const StreamOutput& out, const Log& log);

// The bytes are the same; prompts are continued one after another, and each token is written as
// soon as it is known. The search keeps one hypothesis: greedy, or sampling of one output.
void continue_live(LinePairs& in, const Translator& translator, const LineOptions& options,
                   Writer& out, const Log& log);

// --status FILE|FD: digits are a descriptor that the caller opened; null for "".
std::unique_ptr<Writer> open_status(const std::string& place);

}  // namespace tx
