#include "lib/train/spikes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tx {

double SpikeDetector::limit() const {
  if (threshold_ <= 0 || losses_.size() < window_) return 0;
  double sum = 0, squares = 0;
  for (const double loss : losses_) sum += loss;
  const double mean = sum / double(window_);
  for (const double loss : losses_) squares += (loss - mean) * (loss - mean);
  const double deviation = std::sqrt(squares / double(window_ - 1));
  const double rise = std::max(threshold_ * deviation, floor_ * std::max(1.0, mean));
  return deviation > 0 ? mean + rise : 0;
}

void SpikeDetector::add(double loss) {
  if (!std::isfinite(loss)) return;
  const double most = limit();
  losses_.push_back(most > 0 ? std::min(loss, most) : loss);
  if (losses_.size() > window_) losses_.pop_front();
}

Json SpikeDetector::state() const { return std::vector<double>(losses_.begin(), losses_.end()); }

void SpikeDetector::restore(const Json& state) {
  const auto losses = state.get<std::vector<double>>();
  const size_t kept = std::min(losses.size(), window_);
  losses_.assign(losses.end() - std::ptrdiff_t(kept), losses.end());
}

}  // namespace tx
