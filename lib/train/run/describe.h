// tx-train --describe: the model, its memory and its cost, without a training.
#pragma once
#include "lib/base/log.h"
#include "lib/train/options/options.h"
#include "lib/train/run/translation_scorer.h"

namespace tx {

// The model of the run that the options describe, of the one to resume, or the paper's base model
// where nothing says more; the options become those of that run.
ModelConfig describe_model(TrainOptions& options, Options& given, const Log& log);

// Prints it for the run that the resolved options describe, for the one to resume, or for the
// paper's base model where nothing says more; the memory is that of one of `ranks` ranks. `scorer`
// as in lib/train/run/trainer.h. Returns the exit status.
int describe_training(TrainOptions& options, Options& given, const MakeTranslationScorer& scorer,
                      int ranks, const Log& log);

}  // namespace tx
