// Continues prompts one after another and writes each piece as soon as it is known.
#pragma once
#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/search/lines.h"
#include "lib/text/line_pairs.h"

namespace tx {

// The bytes are those of translate_stream(). The search keeps one hypothesis: greedy, or sampling
// of one output.
void continue_live(LinePairs& in, const Translator& translator, const LineOptions& options,
                   Writer& out, const Log& log);

}  // namespace tx
