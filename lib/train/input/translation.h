// The validation text that a run translates (--valid-metric bleu, chrf), and who scores it: a tool
// passes an implementation (lib/diagnose); lib/train needs neither search nor text metrics.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/model/parameters.h"
#include "lib/ranks/communicator.h"
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

// The task of --valid-metric bleu and chrf, else empty: the first lines of the validation files,
// including pairs that --max-length drops, or those of valid.jsonl if the directory `run` has it.
// `config` records the text; DataError if a resumed run finds another. The caller sets the rest.
TranslationTask read_translation_task(const TrainOptions& options, const std::string& run,
                                      Json& config);

// Keeps that text in the run directory, as valid.jsonl, if it is not there. `fresh`: of a new run.
void keep_translation_text(const TrainOptions& options, const RunDirectory& run, bool fresh,
                           const Json& config);

class TranslationScorer {
 public:
  virtual ~TranslationScorer() = default;
  // Device memory that it holds from reserve() on, in bytes, without the parameters.
  virtual size_t bytes() = 0;
  // Allocates that memory, so that a lack of it shows before the first step; throws Error.
  virtual void reserve() = 0;
  // Translates the sources greedily with the current parameters, and returns a score for each
  // metric; nothing if `stop`, which any thread may call, returned true. Collective: each rank
  // translates its lines, and rank 0 returns the scores.
  virtual std::optional<std::vector<double>> score(const std::function<bool()>& stop,
                                                   Communicator* ranks = nullptr) = 0;
};

// `parameters` must outlive the scorer. Construct the Transformer that trains them before it.
using MakeTranslationScorer =
    std::function<std::unique_ptr<TranslationScorer>(Parameters& parameters, TranslationTask task)>;

}  // namespace tx
