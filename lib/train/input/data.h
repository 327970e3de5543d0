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

// From --init, --vocab, or --vocab-src and --vocab-tgt; UsageError for none or contradictions.
Vocabularies load_vocabularies(const TrainOptions& options);
Vocabularies model_vocabularies(const std::string& model);  // of a model file

// Training and validation text (or null): caches in the run directory or, with --cache, in one that
// runs share. `config` records their paths and checksums. A resumed run opens them, or builds a
// missing one again; DataError if the text is not the one the run was started with.
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

// Logs the share of <unk> and byte tokens in the first 1,000 pairs; warns above 5 %: another
// language, swapped sides, or a list of words for raw text would train without an error.
void check_vocabulary_fit(const TrainOptions& options, const Vocabularies& vocabularies,
                          const Corpora& corpora, const Log& log);

}  // namespace tx
