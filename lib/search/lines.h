// Turns lines of text into what the search takes, and what it gives into lines.
#pragma once
#include <string>
#include <string_view>

#include "lib/base/log.h"
#include "lib/search/translator.h"
#include "lib/text/corpus.h"

namespace tx {

enum class LineForm { text, pieces, ids };

struct LineOptions {
  LineForm form = LineForm::text;  // of input and output alike
  bool scores = false;             // score and log P in front of each translation
  bool list = false;               // the n-best list: also the line's number and the rank in front
  bool prefix = false;             // a second column: what the output begins with
};

// One line on its way.
struct Line {
  int64_t number = 0;    // in the input, from 1
  int64_t replaced = 0;  // ill-formed UTF-8 sequences
  int64_t pieces = 0;    // of the whole line
  bool blank = false;    // white space only: the answer is an empty line, no model is asked
  bool cut = false;      // only its first pieces are translated
};

// Empty, or nothing but white space as Unicode knows it.
bool is_blank(std::string_view line);

// Fills `ids` with the line's pieces, none for a blank line, and returns what it found. A word
// that is not a piece (id) of the vocabulary is a DataError.
Line parse_line(std::string_view text, const LineOptions& options, const Translator& translator,
                std::vector<int>& ids);
// Fills `labels` with the pieces of a forced target and <eos>, or with as many of its pieces as the
// model can hold. Returns the number of pieces of the whole.
int64_t parse_target(std::string_view text, const LineOptions& options,
                     const Translator& translator, std::vector<int>& labels);
// Fills `ids` with what an output shall begin with, or with as many of its pieces as a source may
// have. Spaces at the end of a text do not count. Returns the number of pieces of the whole.
int64_t parse_prefix(std::string_view text, const LineOptions& options,
                     const Translator& translator, std::vector<int>& ids);
// Warns of lines that were cut, the first ten by their place.
class CutWarnings {
 public:
  explicit CutWarnings(const Log& log) : log_(log) {}
  // The reader's last line has so many pieces, of which `left` stay; `options` would keep more.
  void add(const TextReader& reader, int64_t pieces, int64_t left, const char* options);
  void at_end() const;

 private:
  const Log& log_;
  int64_t lines_ = 0;
};

// A blank line is answered by an empty line with log P 0. A forced target for it that is not blank
// has minus infinity: it is never output.
Translation answer_blank(const Source& source);

// The answer, each output with its newline:
//   plain          TEXT
//   scores         SCORE TAB LOG_P TAB TEXT
//   list           LINE TAB RANK TAB SCORE TAB LOG_P TAB TEXT, one for each output
// and TAB COLUMN behind each, where there are columns, one for each output.
// Numbers have six decimals and are natural logarithms.
std::string format_line(const Line& line, const Translation& translation,
                        const LineOptions& options, const Vocabulary& vocabulary,
                        const std::vector<std::string>& columns = {});

// The record of a line for --status, and its header (tx-status(5)).
std::string status_header();
std::string format_status(const Line& line, const Translation& translation, double milliseconds);

}  // namespace tx
