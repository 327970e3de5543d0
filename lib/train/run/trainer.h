// tx-train from resolved options to the last checkpoint.
#pragma once
#include <string>

#include "lib/base/log.h"
#include "lib/train/input/translation.h"
#include "lib/train/options/options.h"
#include "lib/train/ranks/replicas.h"

namespace tx {

// Starts or resumes the run that the options describe, after resolve_run()
// (lib/train/plan/resolve.h); `given` tells which the user chose. config.json records every option,
// so that a resumed run does not depend on defaults. Returns the exit status: 0 when a limit ended
// the run, 128 + n after signal n (everything saved).
int train(const TrainOptions& options, const Options& given, const std::string& command,
          const MakeTranslationScorer& scorer, Job& job, const Log& log);

}  // namespace tx
