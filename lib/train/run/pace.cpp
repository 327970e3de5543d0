#include "lib/train/run/pace.h"

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/train/run/progress.h"

namespace tx {
namespace {

constexpr double measured_share = 0.02, spare_share = 0.02;  // of the whole time
constexpr double forward_share = 1 / 3.0;  // of a step's time per token, in a validation
constexpr double saved_bytes_per_second = 2e8;

// Takes steps at rate 0 for a small share of `seconds`, at least one, and resets the run. The first
// step, which sets up libraries and graphs, is not counted if there are others.
Pace measure_pace(Run& run, double seconds) {
  const Feed& feed = run.feed();
  const Corpora& corpora = run.spec().corpora;
  const double begin = run.seconds();
  double first = 0, now = begin, tokens = 0;
  int64_t steps = 0;
  while (steps == 0 || (now - begin < measured_share * seconds && feed.epoch() == 0)) {
    run.step({.number = ++steps});
    now = run.seconds();
    tokens += double(feed.step_tokens());
    if (steps == 1) first = now;
  }
  run.forget_steps();
  Pace pace;
  pace.step = steps > 1 ? (now - first) / double(steps - 1) : now - begin;
  pace.pause = double(run.whole().fp32_weights().cols) * 12 / saved_bytes_per_second;
  if (corpora.valid) {
    const PairLengths text(*corpora.valid, corpora.sentinels.size());
    double rows = 0;
    for (int side = 0; side < text.sides(); ++side) rows += double(text.rows(side));
    pace.pause += forward_share * rows * pace.step * double(steps) / tokens;
  }
  return pace;
}

}  // namespace

TrainOptions fit_to_minutes(TrainOptions o, const Options& given, Run& run, const Log& log) {
  const double total = 60 * o.minutes;
  run.rehearse();
  Pace pace = measure_pace(run, total);
  pace.every = o.valid_every > 0 ? o.valid_every : o.save_every;
  const double left = total * (1 - spare_share) - run.seconds();
  const int64_t steps = steps_in(left, pace);
  if (steps < 1) {
    const double needed = run.seconds() + pace.step + pace.pause;
    throw UsageError(minutes_limit(o) + " is too short: starting and one step take about " +
                     formatted("%.2g minutes", needed / 60 / (1 - spare_share)));
  }
  if (steps < o.steps) {
    o.steps = steps;
    log.info(minutes_limit(o) + ": training for " + counted(steps, "step") +
             formatted(" of %.3g s", pace.step) + " each; to train the same model again: --steps " +
             std::to_string(steps));
  } else {
    log.info(minutes_limit(o) + " is enough for all " + counted(o.steps, "step") + " of preset " +
             o.preset.name);
  }
  return fit_schedule(o, given);
}

}  // namespace tx
