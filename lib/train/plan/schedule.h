// The learning rate, the number of steps of a run, and a schedule that fits them.
#pragma once
#include <functional>

#include "lib/base/log.h"
#include "lib/train/options/options.h"

namespace tx {

// The rate of a step, counted from 1, for a model of this width (tx-paper(7), 5.3).
double learning_rate(const TrainOptions& options, int64_t d_model, int64_t step);

// Fits warm-up and save interval, which presets choose for their own number of steps, to a shorter
// run: the warm-up is at most a sixth of the steps, as in preset tiny, and --lr-factor is lowered
// so that the peak rate of schedule paper stays the same; a run too short for one save gets four.
// Options given on the command line, or taken from --resume or --config, are not changed.
TrainOptions fit_schedule(TrainOptions options, const Options& given);

// Whether --minutes is given without --steps: the run then has as many steps as fit that time, but
// no more than its preset, and the schedule is fitted to these (lib/train/run/pace.h).
bool steps_by_minutes(const TrainOptions& options, const Options& given);

// How long the parts of a run take, in seconds.
struct Pace {
  double step = 0;
  double pause = 0;   // of a validation and a save
  int64_t every = 0;  // steps between two pauses; 0: one pause, at the end
};
// The number of steps that take `seconds`, rounded down.
int64_t steps_in(double seconds, const Pace& pace);

// The steps that read the text `epochs` times, at most `max` (0: no limit): Feed::steps().
using CountSteps = std::function<int64_t(int64_t epochs, int64_t max)>;

// Warns if the run ends in its warm-up, or by --epochs long before the learning rate reaches 0.
void check_course(const TrainOptions& options, const CountSteps& count, const Log& log);

}  // namespace tx
