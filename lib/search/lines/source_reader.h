// Reads lines of text as sources of the search. With SearchOptions::prefix and ::constraints a line
// has further columns for the prefix and the phrases. A second text has the phrases instead, or the
// forced targets. With LineOptions::perplexity, a line without one is a text, or source and target.
#pragma once
#include <string>

#include "lib/base/log.h"
#include "lib/search/lines/lines.h"
#include "lib/text/corpus.h"

namespace tx {

class SourceReader {
 public:
  // All arguments must outlive the reader. `log` gets warnings about lines that are cut.
  SourceReader(LinePairs& in, const Translator& translator, const LineOptions& options,
               const Log& log)
      : in_(in),
        translator_(translator),
        options_(options),
        cuts_(log, could_split() ? "; --split N translates longer lines sentence by sentence" : ""),
        unknown_(log, translator.models().source()) {}

  bool ready(int wait_ms) { return in_.ready(wait_ms); }
  // False at the end. DataError with file and line for invalid input.
  bool next(Line& line, Source& source);
  // Parses the line that `reader` read last for the translator of this reader.
  void take_from(const SourceReader& reader, Line& line, Source& source);
  // Like next(), with one source for each sentence of a line that is split (LineOptions::split).
  bool next(Line& line, std::vector<Source>& parts);
  void warn_at_end() const {
    cuts_.at_end();
    unknown_.at_end();
  }

 private:
  const Vocabulary& target() const { return translator_.models().target(); }
  const SearchOptions& search() const { return translator_.options().search; }
  void take(Line& line, Source& source);
  void parse(Line& line, Source& source);
  // Whether --split would help.
  bool could_split() const {
    return translator_.models().kind() == ModelKind::encoder_decoder && !search().forced_target &&
           options_.split == 0 && options_.form == LineForm::text && !search().prefix &&
           !search().constraints && !options_.word_scores;
  }
  bool splits(const Line& line) const { return options_.split > 0 && line.tokens > options_.split; }
  void warn_of_cut(const Line& line);
  void split(Line& line, std::vector<Source>& parts);
  void parse_prefix_column(std::string_view text, Source& source);
  void take_phrases(std::string_view columns, Source& source);
  Markup::Line take_markup(std::string_view text);
  std::vector<Terminology::Term> terms_of(std::string_view text, const Source& source) const;
  int64_t tokens_in(std::string_view text) const;
  void take_whole(Line& line, Source& source);
  bool in_pairs() const { return options_.perplexity && !in_.other() && !translator_.continues(); }
  void split_pair();
  LinePairs& in_;
  const Translator& translator_;
  const LineOptions& options_;
  CutWarnings cuts_;
  UnknownText unknown_;
  std::string text_, target_;
  bool knows_stand_ins_ = false;
  std::vector<std::string> stand_ins_;  // for markup, from the first line with any
};

}  // namespace tx
