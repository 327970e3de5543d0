// tx-train --describe: the model, its memory and its cost, without a training.
#pragma once
#include "lib/base/log.h"
#include "lib/train/options.h"
#include "lib/train/translation_scorer.h"

namespace tx {

// Prints it for the run that the resolved options describe, for the one to resume, or for the
// paper's base model where nothing says more. `scorer` as in lib/train/trainer.h. Returns the exit
// status.
int describe_training(TrainOptions& options, Options& given, const MakeTranslationScorer& scorer,
                      const Log& log);

}  // namespace tx
