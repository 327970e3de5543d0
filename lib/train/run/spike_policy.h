// What a training does about a step that went wrong: its loss or gradients are not finite, or its
// loss is a spike. Such a step has held its update (kernels: gradient_norm); the policy decides,
// between two steps, and counts. It touches no file and no weight: the training does what it says.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/train/options/options.h"

namespace tx {

struct StepRecord;

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

struct SpikeDecision {
  enum class Action {
    logged,   // the update that was held is made up for
    skipped,  // it is left out
    rewound,  // training goes back to the checkpoint of step `to` and on with the text that follows
    ended     // the run has diverged or goes in circles: it ends, for the reason `why`
  };
  Action action = Action::skipped;
  // Where rewound: the checkpoint to go back to. Where ended: weights of steps before this one were
  // good, those of this step perhaps not.
  int64_t to = -1;
  std::string why;
  // Number of the flight record to write, and of the one to remove for it; 0: there is none.
  int64_t flight = 0, old_flight = 0;
};

class SpikePolicy {
 public:
  explicit SpikePolicy(const SpikeOptions& options);  // which outlive it

  // Mean loss of a label above which the next step is a spike, in nats; 0: nothing is one.
  double limit() const { return spikes_.limit(); }
  // What to do about a step that was skipped (record.skip). `earlier` is called where the training
  // is to go back: the step of the checkpoint to go back to, -1 where there is none.
  SpikeDecision decide(const StepRecord& record, const std::function<int64_t()>& earlier);
  // Takes in the loss of every step, those that went wrong behind decide().
  void add(const StepRecord& record);
  // How many steps up to the last one in a row were not finite: so long the weights have not moved.
  int not_finite() const { return not_finite_; }

  // For the state file, tx-run(5): what decides about the steps to come. How often the run went
  // back is not part of it: one that is resumed begins to count anew.
  Json state() const;
  void restore(const Json& state);  // keys that are missing begin anew; throws Json::exception

 private:
  SpikeDecision go_back(int64_t to, int64_t step);
  SpikeDecision skip(int64_t step);
  void choose_flight(SpikeDecision& decision, int64_t step);

  const SpikeOptions& options_;
  SpikeDetector spikes_;
  int64_t incidents_ = 0;
  int64_t incident_step_ = 0;     // the last one
  std::vector<int64_t> flights_;  // numbers of the records that are kept
  int not_finite_ = 0;
  int64_t rewound_to_ = -1;  // the checkpoint the run went back to last,
  int rewinds_ = 0;          // and how many times in a row
};

// The warning about such a step. `flight`: the file that records the step; "": there is no such
// file.
std::string describe_incident(const StepRecord& record, const SpikeDecision& decision,
                              const std::string& flight);

// The line of log.jsonl, tx-run(5), but for `seconds`. `flight`: that file's name in the run
// directory, or "". Where the run goes back, the line belongs behind the lines of the checkpoint
// it goes back to.
Json incident_line(const StepRecord& record, const SpikeDecision& decision,
                   const std::string& flight);

}  // namespace tx
