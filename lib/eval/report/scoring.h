// tx-bleu: scores of text or of statistics.
#pragma once
#include <cstdint>
#include <string>

#include "lib/base/io.h"
#include "lib/base/log.h"
#include "lib/base/resources.h"
#include "lib/base/workers.h"
#include "lib/cli/options.h"
#include "lib/eval/corpus.h"
#include "lib/eval/metrics.h"

namespace tx {

struct ScoringOptions {
  CorpusFiles files;
  MetricOptions metrics;
  bool sentence = false;    // one score per segment instead of one per corpus
  bool stats = false;       // one line of statistics per segment instead of scores
  bool from_stats = false;  // read such lines from files.systems if given, else from references
  bool confidence = false;  // a bootstrap for each system
  bool paired_bootstrap = false, paired_approximate = false;  // against the first system
  int64_t resamples = 1000, trials = 10000;
  uint64_t seed = 12345;
  int threads = available_cpus();  // of the resampling
  int width = 1;
  bool score_only = false, json = false, quiet = false;
  // sacreBLEU's options: format sets json, test_set is an error, the others have no effect.
  std::string format, test_set, encoding = "utf-8";
  bool no_color = false;
  bool force = false;  // no warning about text that looks tokenised

  void describe(Options& options);
  bool resamples_segments() const { return confidence || paired_bootstrap || paired_approximate; }
};

// Reads all files once, in parallel, and writes the result to `out`. Memory grows with the files
// only for resampling (confidence and paired tests), which keeps the statistics of each segment.
// Throws UsageError for conflicting options, before anything is read; DataError, IoError.
void run_scoring(ScoringOptions options, const Log& log, Writer& out);

}  // namespace tx
