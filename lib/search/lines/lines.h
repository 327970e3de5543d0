// Converts lines of text to sources of the search, and its results to lines.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "lib/base/log.h"
#include "lib/search/engine/translator.h"
#include "lib/search/lines/markup.h"
#include "lib/search/lines/terminology.h"
#include "lib/text/corpus.h"

namespace tx {

enum class LineForm { text, tokens, ids };

struct LineOptions {
  LineForm form = LineForm::text;        // of input and output
  bool scores = false;                   // columns before each translation: score, log P
  bool list = false;                     // n-best list; columns before these: line number, rank
  bool word_scores = false;              // append log P of each word
  bool json = false;                     // a JSON object per line instead of columns
  int latency_ms = 0;                    // maximum wait to fill a batch; 0: about 1 ms
  std::shared_ptr<const Markup> markup;  // null: lines are plain text
  std::shared_ptr<const Terminology> glossary;  // null: none
  int split = 0;                        // split longer lines into sentences, in tokens; 0: never
  Encoding encoding = Encoding::masks;  // models of kind encoder
  // Without a second text, a line is a text to score or, for an encoder-decoder, SOURCE TAB TARGET.
  bool perplexity = false;
  // Language models.
  bool echo = false;               // print the prompt before its continuation
  std::vector<std::string> stops;  // removed from the output
};

// An input line.
struct Line {
  int64_t number = 0;    // in the input, from 1
  int64_t replaced = 0;  // ill-formed UTF-8 sequences
  int64_t tokens = 0;    // of the whole line
  bool blank = false;    // white space only: the output is an empty line
  bool cut = false;      // only its first tokens are used; of a prompt, its last
  std::string prompt;    // of a language model, as text
  Markup::Line marked;   // with LineOptions::markup: the parts that go back into the output
  std::vector<std::vector<Terminology::Term>> terms;  // with LineOptions::glossary, of each part
  bool lacks_terms = false;                           // the output lacks one of them
  std::string unknown;  // the first text that has no token but <unk>: a word or character
  // A pair that training drops, so that --perplexity does: one side is empty, or one was cut.
  bool dropped = false;
};

// Sets `ids` to the line's tokens, none for a blank line, and returns the properties of the line.
// For a model of kind encoder each <mask> is mask_token.
// DataError if the form is tokens or ids and a word is not a token or id of the vocabulary.
Line parse_line(std::string_view text, const LineOptions& options, const Translator& translator,
                std::vector<int>& ids);
// Sets `labels` to the tokens of a forced target and <eos>, cut to the positions that the model has
// after `prompt` tokens. Returns the number of tokens before the cut.
int64_t parse_target(std::string_view text, const LineOptions& options,
                     const Translator& translator, std::vector<int>& labels, int64_t prompt = 0);
// Line::unknown of a text with the tokens `ids`.
std::string unknown_text(std::string_view text, std::span<const int> ids, LineForm form,
                         const Vocabulary& vocabulary);
// Sets the prefix of the output, cut to the longest source; returns its tokens before the cut.
// White space at its ends is ignored, as in phrases, but that after the last word completes it.
int64_t parse_prefix(std::string_view text, const LineOptions& options,
                     const Translator& translator, Source& source);
// The tokens of a phrase that an output must contain.
std::vector<int> parse_phrase(std::string_view text, const LineOptions& options,
                              const Translator& translator);
// Warns of lines that were cut: the first ten each, with `advice` appended; then their number.
class CutWarnings {
 public:
  explicit CutWarnings(const Log& log, std::string advice = "")
      : log_(log), advice_(std::move(advice)) {}
  // The line that `reader` read last has `tokens` tokens and was cut to `left`, the first or last
  // ones (`which`). `options`: the options that set this limit.
  void add(const TextReader& reader, int64_t tokens, int64_t left, const char* options,
           const char* which = "first");
  void at_end() const;

 private:
  const Log& log_;
  std::string advice_;
  int64_t lines_ = 0;
};

// Counts the lines with text that has no token but <unk>, and warns about the first at the end.
class UnknownText {
 public:
  UnknownText(const Log& log, const Vocabulary& vocabulary) : log_(log), vocabulary_(vocabulary) {}
  // `unknown`: Line::unknown of the line that `reader` read last. DataError with --strict.
  void add(const TextReader& reader, const std::string& unknown);
  void at_end() const;

 private:
  const Log& log_;
  const Vocabulary& vocabulary_;
  int64_t lines_ = 0;
  std::string first_;
};

// Joins the translations of a line's parts: tokens in a row, log P summed; the score is the sum
// over the length penalty of the whole. log P of a part's end is added to its last token.
Translation join_parts(const std::vector<Translation>& parts, double alpha);
// Their texts with the white space between the parts of the line. Where the line has none, a space
// separates them, except after Chinese and Japanese marks.
std::string join_texts(std::span<const Source> parts, const std::vector<Translation>& found,
                       const Vocabulary& vocabulary);

// Removes outputs with the text of a better one: a text can be several sequences of tokens. prompt:
// the tokens that the outputs continue; stops: strings that end their texts.
void drop_repeated_texts(Translation& outputs, const Vocabulary& vocabulary,
                         std::span<const int> prompt = {},
                         const std::vector<std::string>& stops = {});

// The output lines of an input line, each with its newline:
//   plain          TEXT
//   scores         SCORE TAB LOG_P TAB TEXT
//   list           LINE TAB RANK TAB SCORE TAB LOG_P TAB TEXT, one for each output
//   word_scores    TAB LOG_P ... appended to each (WordScores)
// then TAB and its element of `columns`, if there are any. With several columns a tab in TEXT
// becomes a space. Logarithms are natural, with six decimals. prompt: as above.
std::string format_line(const Line& line, const Translation& translation,
                        const LineOptions& options, const Vocabulary& vocabulary,
                        const std::vector<std::string>& columns = {},
                        std::span<const int> prompt = {});

// The output line of a model of kind encoder, with its newline: the numbers of the vector, or the
// text with its masks filled and then each token and its probability, separated by tabs.
std::string format_encoded(const TokenHypothesis& h, const Vocabulary& vocabulary);

// The words of an output (its tokens with LineForm::tokens and ids) and log P of each. For a
// complete output, log_p has one more element, that of its end. The sum is log P of the output.
struct WordScores {
  std::vector<std::string> words;
  std::vector<double> log_p;
};
WordScores words_of(const TokenHypothesis& h, LineForm form, const Vocabulary& vocabulary);

// The JSON object of a line, with its newline, as in tx-decode(1). states: of the line, see
// remarks.h; alignments: links such as "0-0 1-2" of each output, or none.
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
