// The data of a run: vocabularies and the texts as token ids.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/data/cache.h"
#include "lib/data/packing.h"
#include "lib/subword/vocabulary.h"
#include "lib/train/input/run_directory.h"
#include "lib/train/options/options.h"

namespace tx {

// From --init, --vocab, or --vocab-src and --vocab-tgt; UsageError if none is given or if two
// contradict each other.
Vocabularies load_vocabularies(const TrainOptions& options);
Vocabularies model_vocabularies(const std::string& model);  // of a model file

// Training and validation text (validation may be null): caches in the run directory or, with
// --cache, in a directory shared with other runs on the same text. `config` records their paths and
// checksums. A resumed run opens these caches, or builds a missing one again; DataError if the
// text is not the one the run was started with.
struct Corpora {
  std::unique_ptr<IdCache> train, valid;
  std::vector<int> sentinels = {};  // of --denoise: ids of the tokens that replace spans
  PairLengths train_lengths() const { return PairLengths(*train, sentinels.size()); }
  std::vector<PairLengths> lengths() const;  // of training and, if any, validation text
};
Corpora open_corpora(const TrainOptions& options, const Vocabularies& vocabularies,
                     const RunDirectory& run, bool resumed, Json& config, const Log& log);

struct TrainingData {
  Vocabularies vocabularies;
  Corpora corpora;
};
TrainingData open_data(const TrainOptions& options, const RunDirectory& run, Json& config,
                       const Log& log);
// For a run that resumes from its model of `step`.
TrainingData reopen_data(const TrainOptions& options, const RunDirectory& run, int64_t step,
                         Json& config, const Log& log);

// Logs the share of <unk> and of byte tokens in the first 1,000 pairs, and warns if one of them
// is above 5 % on a side of the training or the validation text: a vocabulary of another language,
// swapped sides, or a list of words for raw text would otherwise train without an error.
void check_vocabulary_fit(const TrainOptions& options, const Vocabularies& vocabularies,
                          const Corpora& corpora, const Log& log);

}  // namespace tx
