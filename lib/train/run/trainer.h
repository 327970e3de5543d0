// A training run from its options to its last checkpoint.
#pragma once
#include <string>

#include "lib/base/log.h"
#include "lib/train/options/options.h"
#include "lib/train/ranks/team.h"
#include "lib/train/run/translation_scorer.h"

namespace tx {

// Starts or resumes the run that the options describe, which resolve_run()
// (lib/train/options/run_options.h) has resolved; `given` is bound to them, so that config.json
// holds no default that another machine would fill differently. `scorer` makes what --valid-metric
// bleu and chrf need. Returns the exit status: 0 when it ended by its own limits, 128 + n after
// signal n (everything saved).
int train(TrainOptions& options, Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, Team& team, const Log& log);

}  // namespace tx
