// Hypotheses and references in files: one segment a line, line n of every file belongs together.
// Files are read side by side, so memory does not grow with them.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/eval/metric.h"

namespace tx {

struct CorpusFiles {
  std::string hypotheses = "-";
  std::vector<std::string> references;  // at least one
  bool strict = false;                  // invalid UTF-8 is an error, not replaced with a warning
};

// Calls f for every segment and returns their number. Ill-formed UTF-8 becomes U+FFFD, counted in a
// warning. Throws DataError where the files differ in their number of lines (after f has seen the
// common ones), IoError, and UsageError where two of them are standard input.
using SegmentFunction =
    std::function<void(const std::string& hypothesis, std::span<const std::string> references)>;
int64_t for_each_segment(const CorpusFiles& files, const Log& log, const SegmentFunction& f);

// Throws DataError also where there is no line at all: nothing has no score.
Score score_corpus(Metric& metric, const CorpusFiles& files, const Log& log);

}  // namespace tx
