// --minutes without --steps: a run of as many steps as fit that time.
#pragma once
#include "lib/base/log.h"
#include "lib/train/run/run.h"

namespace tx {

// Measures some steps of `run`, then resets it; returns the options with the number of steps that
// fit, and a schedule that fits these. The run is then bit-identical to one with this number of
// --steps. UsageError if not even one step fits.
TrainOptions fit_to_minutes(TrainOptions options, const Options& given, Run& run, const Log& log);

}  // namespace tx
