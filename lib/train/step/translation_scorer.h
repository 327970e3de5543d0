// Scores the translations of a model during training (--valid-metric bleu, chrf). lib/train depends
// on neither search nor text metrics: the tool passes an implementation (lib/diagnose).
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lib/model/parameters.h"
#include "lib/ranks/communicator.h"
#include "lib/train/input/translation_task.h"

namespace tx {

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
