// Validation during training: measures a model on the validation text, remembers which step was the
// best and counts how many validations ago that was. It writes nothing; what it remembers is part
// of the state file, tx-run(5), so that a resumed run judges as one that was never stopped.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "kernels/view.h"
#include "lib/base/json.h"
#include "lib/text/cache.h"
#include "lib/text/packing.h"

namespace tx {

struct Validation {
  double loss = 0, nll = 0, accuracy = 0;  // per label; loss is smoothed, nll in nats
};

struct ValidatorSettings {
  int patience = 0;  // validations in a row without a better one that end a run; 0: never
};

class Validator {
 public:
  // Adds the loss sums of a batch, as Stepper::evaluate() does.
  using Evaluate = std::function<void(const Batch& batch, StepRecord& sums)>;

  explicit Validator(const ValidatorSettings& settings) : settings_(settings) {}

  // One pass over the text, in order. UsageError for a sentence longer than its capacity.
  static std::unique_ptr<Packer> packer(const IdCache& text, const std::vector<int>& capacities);

  // Measures the model of `step` by one pass over packer(): means over all labels of the text.
  const Validation& measure(int64_t step, Packer& text, const Evaluate& evaluate);
  // What measure() found for that step, null when it was not measured last.
  const Validation* found(int64_t step) const { return step == step_ ? &found_ : nullptr; }

  // Compares `score` of the model of `step`, lower is better, with the best so far. One that is not
  // finite is never better.
  void consider(int64_t step, double score);
  int64_t best() const { return has_best_ ? best_step_ : -1; }  // its step; -1: none yet
  bool out_of_patience() const { return settings_.patience > 0 && bad_ >= settings_.patience; }
  // The best model is gone: the next one considered is the best, and patience starts anew.
  void forget_best();
  // The weights are those of another step from here on: nothing is found for any step.
  void forget_found() { step_ = -1; }

  // Members of the state file; restore() throws Json::exception where one is missing.
  Json state() const;
  void restore(const Json& state);

 private:
  ValidatorSettings settings_;
  Validation found_;
  int64_t step_ = -1;  // of found_
  bool has_best_ = false;
  int64_t best_step_ = 0, bad_ = 0;
  double best_score_ = 0;
};

}  // namespace tx
