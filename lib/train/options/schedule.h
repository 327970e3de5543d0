// The learning rate, how many steps a run has, and a schedule that fits them.
#pragma once
#include "lib/base/log.h"
#include "lib/data/pair_lengths.h"
#include "lib/train/options/options.h"

namespace tx {

// The rate of a step, counted from 1, for a model of this width (tx-paper(7), 5.3).
double learning_rate(const TrainOptions& options, int64_t d_model, int64_t step);

// A preset's warm-up and its interval between saves suit the preset's own number of steps. A run of
// fewer steps warms up for a sixth of them at the most, the share that preset tiny has. Schedule
// paper then keeps its highest rate, by a lower --lr-factor. Where not even one save would come,
// there are four. Options given on the command line, and those of a run that is resumed or begun
// with --config, stay as they are.
void fit_schedule(TrainOptions& options, const Options& given);

// Whether --minutes is given without --steps: the run then has as many steps as fit that time, but
// no more than its preset, see lib/train/run/time_budget.h, and its schedule is fitted to these.
bool steps_by_minutes(const TrainOptions& options, const Options& given);

// The steps of an epoch, rounded up; batches are taken to be full.
int64_t epoch_steps(const TrainOptions& options, const PairLengths& text);

// Warns where the warm-up does not end within the run, and where --epochs ends it long before the
// step at which its schedule reaches 0.
void check_course(const TrainOptions& options, const PairLengths& text, const Log& log);

}  // namespace tx
