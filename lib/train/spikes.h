// Loss spikes: how far a step's loss lies from those of the steps before it.
#pragma once
#include <cstddef>
#include <deque>

#include "lib/base/json.h"

namespace tx {

// Keeps the losses of the last `window` steps. A spike is a loss that lies above their mean by more
// than `threshold` standard deviations, by more than `floor` nats, and by more than `floor` times
// the mean: where losses hardly spread, six deviations are noise. A spike that is let into the
// window counts as the limit it broke: the spread grows, so that a level that stays is not a spike
// for ever.
class SpikeDetector {
 public:
  SpikeDetector(double threshold, int window, double floor)
      : threshold_(threshold), floor_(floor), window_(size_t(window)) {}
  // Mean loss of a label above which the next step is a spike; 0 while the window is not full,
  // where its losses are all the same, and with a threshold of 0.
  double limit() const;
  void add(double loss);  // of a step, in nats per label; one that is not finite is left out
  // What add() kept, for the state file: with it another detector goes on exactly from here.
  Json state() const;
  void restore(const Json& state);  // throws Json::exception

 private:
  double threshold_, floor_;
  size_t window_;
  std::deque<double> losses_;
};

}  // namespace tx
