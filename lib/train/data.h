// The data of a run: vocabularies, id caches, packers.
#pragma once
#include <memory>
#include <string>

#include "lib/base/log.h"
#include "lib/text/cache.h"
#include "lib/text/packing.h"
#include "lib/train/options.h"

namespace tx {

struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;  // the same object when shared
};

// From --bpe, --bpe-src and --bpe-tgt, or --vocab words; UsageError when none is given.
Vocabularies load_vocabularies(const TrainOptions& options);

// The caches of training and validation text (validation may be null). With --cache they are found
// again by the text's files and vocabularies; else built at `folder`, or opened there when
// `existing` (a resumed run).
struct Corpora {
  std::unique_ptr<IdCache> train, valid;
};
Corpora open_corpora(const TrainOptions& options, const Vocabularies& vocabularies,
                     const std::string& folder, bool existing, const Log& log);

}  // namespace tx
