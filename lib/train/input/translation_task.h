// The validation text that a run translates (--valid-metric bleu, chrf).
#pragma once
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/subword/vocabulary.h"
#include "lib/train/input/run_directory.h"
#include "lib/train/options/options.h"

namespace tx {

struct TranslationTask {
  std::vector<std::string> metrics;              // "bleu", "chrf"
  std::vector<std::string> sources, references;  // text; references[n] translates sources[n]
  Vocabularies vocabularies;
  int threads = 1;  // on the CPU
  // The ranks that share the lines. Each has all sources; rank 0 alone has the references.
  int rank = 0, ranks = 1;
};

// The task of --valid-metric bleu and chrf (without them an empty one): the first lines of the
// validation files, including pairs that --max-length drops, or those of valid.jsonl if the
// directory `run` has it. `config` records the text; DataError if a resumed run finds another one
// at the place of the first. The caller sets vocabularies and ranks.
TranslationTask read_translation_task(const TrainOptions& options, const std::string& run,
                                      Json& config);

// Keeps that text in the run directory, as valid.jsonl, if it is not there. `fresh`: of a new run.
void keep_translation_text(const TrainOptions& options, const RunDirectory& run, bool fresh,
                           const Json& config);

}  // namespace tx
