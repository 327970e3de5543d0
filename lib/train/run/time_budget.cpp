#include "lib/train/run/time_budget.h"

#include <algorithm>
#include <cstdio>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/train/options/schedule.h"

namespace tx {

namespace {

constexpr double measured_share = 0.02, spare_share = 0.02;  // of the whole time
constexpr double forward_share = 1 / 3.0;  // of a step's time per token, in a validation
constexpr double saved_bytes_per_second = 2e8;

double tokens_of(const std::vector<Batch>& batches) {
  double tokens = 0;
  for (const Batch& batch : batches)
    for (const int64_t rows : batch.tokens) tokens += double(rows);
  return tokens;
}

// Steps at rate 0 for a small share of `seconds`, one at least. The first, in which libraries and
// graphs are set up, does not count where there are others.
Pace measure(Run& run, const ProgressLog& progress, double seconds) {
  const Feed& feed = run.feed();
  const Corpora& corpora = run.spec().corpora;
  const double begin = progress.seconds();
  double first = 0, now = begin, tokens = 0;
  int64_t steps = 0;
  while (steps == 0 || (now - begin < measured_share * seconds && feed.epoch() == 0)) {
    run.step(++steps, 0, 0);
    now = progress.seconds();
    tokens += tokens_of(feed.batches());
    if (steps == 1) first = now;
  }
  run.forget_steps();
  Pace pace;
  pace.step = steps > 1 ? (now - first) / double(steps - 1) : now - begin;
  pace.pause = double(run.whole().master().cols) * 12 / saved_bytes_per_second;
  if (corpora.valid) {
    const PairLengths text(*corpora.valid, corpora.sentinels.size());
    double rows = 0;
    for (int side = 0; side < text.sides(); ++side) rows += double(text.rows(side));
    pace.pause += forward_share * rows * pace.step * double(steps) / tokens;
  }
  return pace;
}

}  // namespace

int64_t steps_in(double seconds, const Pace& pace) {
  const bool often = pace.every > 0;
  const double each = pace.step + (often ? pace.pause / double(pace.every) : 0);
  return int64_t(std::max(0.0, (seconds - (often ? 0 : pace.pause)) / each));
}

void fit_to_minutes(Run& run, const ProgressLog& progress, TrainOptions& options,
                    const Options& given, const Log& log) {
  const double total = 60 * options.minutes;
  run.rehearse();
  Pace pace = measure(run, progress, total);
  pace.every = options.valid_every > 0 ? options.valid_every : options.save_every;
  const double left = total * (1 - spare_share) - progress.seconds();
  const int64_t steps = steps_in(left, pace);
  if (steps < 1) {
    const double needed = progress.seconds() + pace.step + pace.pause;
    char text[40];
    std::snprintf(text, sizeof text, "%.2g", needed / 60 / (1 - spare_share));
    throw UsageError(minutes_limit(options) + " is too short: the start and one step take about " +
                     text + " minutes");
  }
  if (steps < options.steps) {
    options.steps = steps;
    char each[40];
    std::snprintf(each, sizeof each, "%.3g s", pace.step);
    log.info(minutes_limit(options) + ": " + counted(steps, "step") + " fit, of " + each +
             " each; to train the same model again: --steps " + std::to_string(steps));
  } else {
    log.info(minutes_limit(options) + ": all " + counted(options.steps, "step") + " of preset " +
             options.preset + " fit");
  }
  fit_schedule(options, given);
}

}  // namespace tx
