// The memory of translating, planned before the first sentence: weights, and for every worker the
// cache, keys, activations and scores of the largest batch that may come.
#pragma once
#include "lib/search/engine/translator.h"

namespace tx {

// The batch size to use: options.batch_tokens where it is given; else the largest that fits
// options.memory, on a CPU no more than what suits it; else what suits the device, on a GPU no more
// than fits into its free memory. Sources have up to `longest` tokens. UsageError where the limit
// is too small; it names one that is large enough. `options` are resolved().
int64_t plan_batch_tokens(const ModelSet& models, const TranslatorOptions& options,
                          const Rules& rules, const Shortlist* shortlist, int64_t longest);

}  // namespace tx
