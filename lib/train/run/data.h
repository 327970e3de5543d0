// The data of a run: vocabularies, id caches, packers.
#pragma once
#include <memory>
#include <string>

#include "lib/base/log.h"
#include "lib/data/cache.h"
#include "lib/data/pair_lengths.h"
#include "lib/subword/vocabularies.h"
#include "lib/train/options/options.h"
#include "lib/train/run/run_directory.h"

namespace tx {

// From --init, --vocab, or --vocab-src and --vocab-tgt; UsageError when no vocabulary
// is given, or two that contradict each other.
Vocabularies load_vocabularies(const TrainOptions& options);
Vocabularies model_vocabularies(const std::string& model);  // of a model file

// The caches of training and validation text (validation may be null), in the run directory or,
// with --cache, where another run with the same text finds them. `config` notes which they are and
// their checksums. A resumed run opens those, or reads its text again where one is missing;
// DataError when that is not the text it was started with.
struct Corpora {
  std::unique_ptr<IdCache> train, valid;
  std::vector<int> sentinels = {};  // of --denoise: ids of the tokens that stand for spans
  PairLengths train_lengths() const { return PairLengths(*train, sentinels.size()); }
  std::vector<PairLengths> lengths() const;  // of both texts, as far as there are two
};
Corpora open_corpora(const TrainOptions& options, const Vocabularies& vocabularies,
                     const RunDirectory& run, bool resumed, Json& config, const Log& log);

struct TrainingData {
  Vocabularies vocabularies;
  Corpora corpora;
};
TrainingData open_data(const TrainOptions& options, const RunDirectory& run, Json& config,
                       const Log& log);
// Of the run to go on with from its model of `step`.
TrainingData reopen_data(const TrainOptions& options, const RunDirectory& run, int64_t step,
                         Json& config, const Log& log);

}  // namespace tx
