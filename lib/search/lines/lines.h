// Turns lines of text into what the search takes, and what it gives into lines.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "lib/base/log.h"
#include "lib/search/engine/translator.h"
#include "lib/text/corpus.h"

namespace tx {

enum class LineForm { text, tokens, ids };

struct LineOptions {
  LineForm form = LineForm::text;  // of input and output alike
  bool scores = false;             // score and log P in front of each translation
  bool list = false;               // the n-best list: also the line's number and the rank in front
  bool word_scores = false;        // append log P of each word
  bool json = false;               // an object for each line in place of columns
  int latency_ms = 0;              // wait to fill a batch; 0: about 1 ms
  int split = 0;                   // lines of more tokens are split into sentences; 0: none
  // Of a language model.
  bool whole = false;              // the lines are texts to score, from their beginning
  bool echo = false;               // the prompt in front of its continuation
  std::vector<std::string> stops;  // removed from the output
};

// One line on its way.
struct Line {
  int64_t number = 0;    // in the input, from 1
  int64_t replaced = 0;  // ill-formed UTF-8 sequences
  int64_t tokens = 0;    // of the whole line
  bool blank = false;    // white space only: answered with an empty line
  bool cut = false;      // only its first tokens are translated, of a prompt its last
};

// Empty, or only Unicode white space.
bool is_blank(std::string_view line);

// Fills `ids` with the line's tokens, none for a blank line, and returns what it found. A word
// that is not a token (id) of the vocabulary is a DataError.
Line parse_line(std::string_view text, const LineOptions& options, const Translator& translator,
                std::vector<int>& ids);
// Fills `labels` with the tokens of a forced target and <eos>, cut to what the model can hold after
// `prompt` tokens. Returns the number of tokens before the cut.
int64_t parse_target(std::string_view text, const LineOptions& options,
                     const Translator& translator, std::vector<int>& labels, int64_t prompt = 0);
// Fills `ids` with the beginning of an output, cut to the longest source. Spaces at the end of a
// text do not count. Returns the number of tokens before the cut.
int64_t parse_prefix(std::string_view text, const LineOptions& options,
                     const Translator& translator, std::vector<int>& ids);
// The tokens of a phrase that an output must contain.
std::vector<int> parse_phrase(std::string_view text, const LineOptions& options,
                              const Translator& translator);
// Warns of lines that were cut, the first ten by their place. `advice` ends each warning.
class CutWarnings {
 public:
  explicit CutWarnings(const Log& log, std::string advice = "")
      : log_(log), advice_(std::move(advice)) {}
  // The reader's last line has `tokens` tokens, of which the first or last `left` are kept;
  // `options` would keep more.
  void add(const TextReader& reader, int64_t tokens, int64_t left, const char* options,
           const char* which = "first");
  void at_end() const;

 private:
  const Log& log_;
  std::string advice_;
  int64_t lines_ = 0;
};

// The translations of a line's parts as that of the whole: tokens one after another, log P summed,
// the score over the length penalty of the whole. The end of a part counts with its last token.
Translation join_parts(const std::vector<Translation>& parts, double alpha);

// The answer, each output with its newline:
//   plain          TEXT
//   scores         SCORE TAB LOG_P TAB TEXT
//   list           LINE TAB RANK TAB SCORE TAB LOG_P TAB TEXT, one for each output
//   word_scores    TAB LOG_P ... appended to each (WordScores)
// then TAB COLUMN for each output, where there are columns.
// Numbers have six decimals and are natural logarithms. prompt: what the outputs continue.
std::string format_line(const Line& line, const Translation& translation,
                        const LineOptions& options, const Vocabulary& vocabulary,
                        const std::vector<std::string>& columns = {},
                        std::span<const int> prompt = {});

// The words of an output, with LineForm::tokens and ids its tokens, and log P of each; of a
// complete output log P has one more, that of its end. They add up to that of the output.
struct WordScores {
  std::vector<std::string> words;
  std::vector<double> log_p;
};
WordScores words_of(const TokenHypothesis& h, LineForm form, const Vocabulary& vocabulary);

// The answer as a JSON object on a line of its own, which tx-decode(1) explains. states: of the
// line, remarks.h; alignments: links such as "0-0 1-2" of each output, where there are any.
std::string format_json(const Line& line, const Translation& translation,
                        const std::vector<std::string>& states, const LineOptions& options,
                        const Vocabulary& vocabulary,
                        const std::vector<std::string>& alignments = {},
                        std::span<const int> prompt = {});

// The record of a line for --status, and its header (tx-status(5)).
std::string status_header();
std::string format_status(const Line& line, const Translation& translation,
                          const std::vector<std::string>& states, double milliseconds);

}  // namespace tx
