// tx-train from resolved options to the last checkpoint, and tx-train --describe.
#pragma once
#include <string>

#include "lib/base/log.h"
#include "lib/train/options/options.h"
#include "lib/train/ranks/replicas.h"
#include "lib/train/run/translation_scorer.h"
#include "lib/train/step/plan.h"

namespace tx {

// Starts or resumes the run that the options describe, after resolve_run()
// (lib/train/options/settle.h). `given` is bound to them. config.json records every option, so that
// a resumed run does not depend on defaults. `scorer` creates the scorer of --valid-metric bleu and
// chrf. Returns the exit status: 0 when a limit ended the run, 128 + n after signal n (everything
// saved).
int train(TrainOptions& options, Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, Job& job, const Log& log);

// The model of the run that the options describe, of the run to resume, or by default the paper's
// base model; the options become those of that run.
ModelConfig describe_model(TrainOptions& options, Options& given, const Log& log);

// That model, its memory on one of `ranks` ranks and its batches.
DescribedRun plan_described(TrainOptions& options, Options& given,
                            const MakeTranslationScorer& scorer, int ranks, const Log& log);

// Prints them and the FLOPs of a step. Returns the exit status.
int describe_training(TrainOptions& options, Options& given, const MakeTranslationScorer& scorer,
                      int ranks, const Log& log);

}  // namespace tx
