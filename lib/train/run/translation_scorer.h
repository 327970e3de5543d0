// Scores of what a model translates while it is trained (--valid-metric bleu, chrf). Training knows
// neither search nor metrics of text: the tool hands in what implements this (lib/validation).
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/model/parameters.h"
#include "lib/ranks/communicator.h"
#include "lib/subword/vocabularies.h"
#include "lib/train/options/options.h"

namespace tx {

struct TranslationTask {
  std::vector<std::string> metrics;              // "bleu", "chrf"
  std::vector<std::string> sources, references;  // text; line n of both belongs together
  Vocabularies vocabularies;
  int threads = 1;  // on the CPU
  // Of the ranks that share the lines, each of which is given all sources; the references are for
  // rank 0.
  int rank = 0, ranks = 1;
};

// The metrics that translate (none: an empty task), and of the validation text the first lines as
// they stand in its files: pairs that the ids leave out are among them. `config` notes which text
// that was; DataError when a resumed run finds another. The vocabularies are left to the caller.
TranslationTask read_translation_task(const TrainOptions& options, Json& config);

class TranslationScorer {
 public:
  virtual ~TranslationScorer() = default;
  // What it holds of the device's memory from reserve() on, the parameters apart.
  virtual size_t bytes() = 0;
  // Takes all of that memory, so that what does not fit is told before the first step; throws Error
  // when it is refused.
  virtual void reserve() = 0;
  // Translates the sources by the parameters as they are now, greedily, and scores the
  // translations: a score for each metric, or nothing where `stop`, which any thread
  // calls now and then, returned true. Of several ranks each calls it and translates its lines;
  // the scores are rank 0's.
  virtual std::optional<std::vector<double>> score(const std::function<bool()>& stop,
                                                   Communicator* ranks = nullptr) = 0;
};

// `parameters` must outlive the scorer. Their Transformer for training must have been made before.
using MakeTranslationScorer =
    std::function<std::unique_ptr<TranslationScorer>(Parameters& parameters, TranslationTask task)>;

}  // namespace tx
