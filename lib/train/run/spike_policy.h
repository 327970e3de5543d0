// Decides about bad steps, whose loss or gradients are not finite or whose loss is a spike; their
// update is not applied (kernels: gradient_norm). Session carries the decisions out.
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

// Keeps the losses of the last `window` steps. A spike is above their mean by more than `threshold`
// standard deviations, `floor` nats, and `floor` times the mean: six deviations of nearly constant
// losses are noise. It enters the window as that limit: a lasting rise is soon no spike.
class SpikeDetector {
 public:
  SpikeDetector(double threshold, int window, double floor)
      : threshold_(threshold), floor_(floor), window_(size_t(window)) {}
  // Mean loss per target above which the next step is a spike; 0 (no limit) while the window is not
  // full, if all its losses are equal, and with a threshold of 0.
  double limit() const;
  void add(double loss);  // of a step, in nats per target; ignored if not finite
  // The window, for the state file.
  Json state() const { return std::vector<double>(losses_.begin(), losses_.end()); }
  void restore(const Json& state);  // throws Json::exception

 private:
  double threshold_, floor_;
  size_t window_;
  std::deque<double> losses_;
};

struct SpikeDecision {
  enum class Action {
    logged,   // applies the update after all
    skipped,  // discards the update
    rewound,  // returns to the checkpoint of step `to` and continues with the text that follows
    ended     // ends the run, which has diverged or keeps rewinding, for the reason `why`
  };
  Action action = Action::skipped;
  // rewound: that checkpoint's step. ended: weights of earlier steps are known to be good.
  int64_t to = -1;
  std::string why;
  // Number of the flight record to write, and of the one to remove for it; 0: none.
  int64_t flight = 0, old_flight = 0;
};

class SpikePolicy {
 public:
  explicit SpikePolicy(const TrainOptions& options)  // must outlive it
      : options_(options),
        spikes_(options.spike_threshold, options.spike_window, options.spike_floor) {}

  // Mean loss per target above which the next step is a spike, in nats; 0: no limit.
  double limit() const { return spikes_.limit(); }
  // Decides about a step with record.skip. `earlier` returns the checkpoint to rewind to, or -1.
  SpikeDecision decide(const StepRecord& record, const std::function<int64_t()>& earlier);
  // Adds the loss of every step. For a bad step, call it after decide().
  void add(const StepRecord& record);
  // Number of consecutive non-finite steps up to the last one: the weights have not changed since.
  int not_finite() const { return not_finite_; }

  // For the state file, tx-run(5), without the rewinds: a resumed run counts them from 0.
  Json state() const;
  void restore(const Json& state);  // throws Json::exception

 private:
  SpikeDecision go_back(int64_t to, int64_t step);
  SpikeDecision skip(int64_t step);
  void choose_flight(SpikeDecision& decision, int64_t step);

  const TrainOptions& options_;
  SpikeDetector spikes_;
  int64_t incidents_ = 0;
  int64_t incident_step_ = 0;     // step of the last incident
  std::vector<int64_t> flights_;  // numbers of the files that are kept
  int not_finite_ = 0;
  int64_t rewound_to_ = -1;  // step of the checkpoint of the last rewind
  int rewinds_ = 0;          // consecutive rewinds to it
};

// The warning about a bad step. `flight`: the file that records it; "": none.
std::string describe_incident(const StepRecord& record, const SpikeDecision& decision,
                              const std::string& flight);

// Its line of log.jsonl, tx-run(5), without `seconds`. `flight`: its file in the run directory, or
// "". After a rewind the line follows those of the checkpoint returned to.
Json incident_line(const StepRecord& record, const SpikeDecision& decision,
                   const std::string& flight);

}  // namespace tx
