#include "lib/train/schedule.h"

#include <algorithm>
#include <cmath>

namespace tx {

double learning_rate(const TrainOptions& o, int64_t d_model, int64_t step) {
  const double s = double(step), w = double(std::max<int64_t>(o.warmup, 1));
  if (o.schedule == "paper")
    return o.lr_factor / std::sqrt(double(d_model)) *
           std::min(1 / std::sqrt(s), s * std::pow(w, -1.5));
  if (step < o.warmup) return o.lr * s / w;
  if (o.schedule == "inverse-sqrt") return o.lr * std::sqrt(w / s);
  if (o.schedule == "constant") return o.lr;
  const double span = double(std::max<int64_t>(1, o.steps - o.warmup));
  const double left = std::clamp(1 - (s - double(o.warmup)) / span, 0.0, 1.0);
  return o.schedule == "linear" ? o.lr * left : o.lr * 0.5 * (1 - std::cos(M_PI * left));
}

}  // namespace tx
