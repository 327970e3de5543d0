// How far the translations of two models, or of one model in two precisions, lie apart on the
// user's own text.
#pragma once
#include <string>

#include "lib/search/lines/lines.h"
#include "lib/text/corpus.h"

namespace tx {

// Translates the whole text with both and returns a report: the share of lines with the same
// translation, BLEU of `a` against `b`, the mean of log P of a's lines less those of b, and the
// lines whose log P differ most. Each cuts the lines into tokens of its own vocabulary. Blank lines
// do not count. Holds the text in memory.
std::string compare_translators(LinePairs& in, const Translator& a, const Translator& b,
                                const LineOptions& options, const Log& log);

}  // namespace tx
