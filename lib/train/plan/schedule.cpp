#include "lib/train/plan/schedule.h"

#include <algorithm>
#include <cmath>

#include "lib/base/figure.h"

namespace tx {

double learning_rate(const TrainOptions& o, int64_t d_model, int64_t step) {
  const double s = double(step), w = double(std::max<int64_t>(o.warmup, 1));
  if (o.schedule == Schedule::paper)
    return o.lr_factor / std::sqrt(double(d_model)) *
           std::min(1 / std::sqrt(s), s * std::pow(w, -1.5));
  if (step < o.warmup) return o.lr * s / w;
  if (o.schedule == Schedule::inverse_sqrt) return o.lr * std::sqrt(w / s);
  if (o.schedule == Schedule::constant) return o.lr;
  const double span = double(std::max<int64_t>(1, o.steps - o.warmup));
  const double left = std::clamp(1 - (s - double(o.warmup)) / span, 0.0, 1.0);
  return o.schedule == Schedule::linear ? o.lr * left : o.lr * 0.5 * (1 - std::cos(M_PI * left));
}

TrainOptions fit_schedule(TrainOptions o, const Options& given) {
  if (o.steps == 0) return o;
  TrainOptions own;
  own.apply_preset(o.preset);
  if (o.steps >= own.steps) return o;  // what the preset chose suits its own steps
  const int64_t longest = std::max<int64_t>(1, o.steps / 6);
  if (!given.chosen("warmup") && o.warmup > longest) {
    if (o.schedule == Schedule::paper && !given.chosen("lr-factor"))
      o.lr_factor *= std::sqrt(double(longest) / double(o.warmup));
    o.warmup = longest;
  }
  if (!given.chosen("save-every") && o.save_every > o.steps)
    o.save_every = std::max<int64_t>(1, o.steps / 4);
  if (!given.chosen("valid-every") && o.valid_every > o.steps)
    o.valid_every = std::max<int64_t>(1, o.steps / 4);
  return o;
}

bool steps_by_minutes(const TrainOptions& o, const Options& given) {
  return o.minutes > 0 && !given.chosen("steps");
}

int64_t steps_in(double seconds, const Pace& pace) {
  const bool often = pace.every > 0;
  const double each = pace.step + (often ? pace.pause / double(pace.every) : 0);
  return int64_t(std::max(0.0, (seconds - (often ? 0 : pace.pause)) / each));
}

void check_course(const TrainOptions& o, const CountSteps& count, const Log& log) {
  const int64_t harmless = std::max(o.warmup + 1, o.rate_falls() ? o.steps : 0);
  const int64_t of_epochs = o.epochs > 0 ? count(o.epochs, harmless) : 0;
  const bool by_epochs = of_epochs > 0 && (o.steps == 0 || of_epochs < o.steps);
  const int64_t last = by_epochs ? of_epochs : o.steps;
  const std::string end = by_epochs ? "--epochs " + std::to_string(o.epochs) +
                                          " ends this run after about " + counted(last, "step")
                                    : "--steps " + std::to_string(last) + " ends this run";
  if (last > 0 && o.warmup >= last && o.warmup > 1)
    return log.warn(end + ", before the end of its warm-up of " + counted(o.warmup, "step") +
                    ": the learning rate only rises; give a smaller --warmup");
  if (o.rate_falls() && by_epochs && double(last) < 0.9 * double(o.steps))
    log.warn(end + ", but --schedule " + o.schedule.name + " reaches 0 at step " +
             std::to_string(o.steps) + ": give --steps " + std::to_string(last));
}

}  // namespace tx
