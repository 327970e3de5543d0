// --minutes without --steps: how many steps fit the time, so that the schedule ends with the run.
// Some steps are taken at rate 0 and forgotten before the run begins; the run is then the one that
// --steps with their number begins, bit for bit, and is resumed as such.
#pragma once
#include "lib/base/json.h"
#include "lib/train/options/options.h"
#include "lib/train/run/progress.h"
#include "lib/train/run/run.h"

namespace tx {

struct Pace {  // seconds
  double step = 0;
  double pause = 0;   // of a validation and a save
  int64_t every = 0;  // steps between two of these; 0: there is one at the end
};
// The steps that fit so many seconds, with a share of them to spare; 0: not one.
int64_t steps_in(double seconds, const Pace& pace);

// Where steps_by_minutes() (lib/train/options/schedule.h): sets the steps of `options`, and the
// schedule that fits them. UsageError where not one step fits. Rank 0 calls it.
void fit_to_minutes(Run& run, const ProgressLog& progress, TrainOptions& options,
                    const Options& given, const Log& log);

}  // namespace tx
