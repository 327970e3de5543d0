// The scorer of translations that tx-train hands to a training: greedy search over the parameters
// in memory and the metrics of lib/eval. Each score is the one that tx-decode --beam 1 and tx-bleu
// give for the saved model in the training's precision.
#pragma once
#include "lib/train/run/translation_scorer.h"

namespace tx {

// As MakeTranslationScorer has it. Packs the weights on the CPU, which takes their size in memory.
std::unique_ptr<TranslationScorer> make_translation_scorer(Parameters& parameters,
                                                           TranslationTask task);

}  // namespace tx
