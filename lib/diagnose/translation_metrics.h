// Scores of the translated validation text (TranslationScorer): greedy search with the parameters
// in memory, and the metrics of lib/eval. The scores equal those of tx-decode --beam 1 and tx-bleu
// for the saved model in the training's precision.
#pragma once
#include "lib/train/run/translation_scorer.h"

namespace tx {

// A MakeTranslationScorer. On the CPU it packs the weights, which doubles their memory.
std::unique_ptr<TranslationScorer> make_translation_scorer(Parameters& parameters,
                                                           TranslationTask task);

}  // namespace tx
