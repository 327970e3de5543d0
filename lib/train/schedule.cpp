#include "lib/train/schedule.h"

#include <algorithm>
#include <cmath>

namespace tx {

double Schedule::rate(int64_t step) const {
  const double s = double(step), w = double(std::max<int64_t>(warmup, 1));
  if (kind == "paper")
    return factor / std::sqrt(double(d_model)) * std::min(1 / std::sqrt(s), s * std::pow(w, -1.5));
  if (step < warmup) return lr * s / w;
  if (kind == "inverse-sqrt") return lr * std::sqrt(w / s);
  if (kind == "constant") return lr;
  const double span = double(std::max<int64_t>(1, steps - warmup));
  const double left = std::clamp(1 - (s - double(warmup)) / span, 0.0, 1.0);
  return kind == "linear" ? lr * left : lr * 0.5 * (1 - std::cos(M_PI * left));
}

}  // namespace tx
