// What of a training every rank has: text, model, and what computes its steps. A training is the
// same calls on all ranks: rank 0 makes them, and each has the others, which are in obey(), make it
// too.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "lib/base/log.h"
#include "lib/train/run/run_spec.h"
#include "lib/train/step/feed.h"
#include "lib/train/step/plan.h"
#include "lib/train/step/valid_pass.h"

namespace tx {

class Run {
 public:
  // All ranks together, each with the spec of rank 0; options and replicas outlive it. The weights
  // are anything until spread(). `scorer` makes what --valid-metric bleu and chrf need. Throws what
  // its parts throw, and an Error where memory is refused.
  Run(const TrainOptions& options, RunSpec spec, const Replicas& replicas,
      const MakeTranslationScorer& scorer, const Log& log);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const RunSpec& spec() const { return spec_; }         // as it was settled
  const MemoryPlan& memory() const { return memory_; }  // of rank 0
  Backend& backend() { return backend_; }
  const Replicas& replicas() const { return replicas_; }
  const Feed& feed() const { return *feed_; }
  const StepTimes& times() const { return stepper_->times(); }
  // The whole model, of rank 0. Where layers lie on several ranks it is what files hold, and not
  // what this rank computes with.
  Parameters& whole() const { return whole_ ? *whole_ : *trained_; }
  Moments whole_moments() const { return whole_ ? whole_->moments() : stepper_->whole_moments(); }

  // The worst batch goes through the model, so that a lack of memory shows before the first step;
  // once, however often this is called.
  void rehearse();
  StepRecord step(int64_t number, double rate, double loss_limit);  // the feed's next batches
  StepRecord release();   // makes up for the update that the last step held
  StepRecord validate();  // sums over the text of validation
  // Scores of its translations, nothing where `stop`, of rank 0, returned true.
  std::optional<std::vector<double>> translate(const std::function<bool()>& stop = {});
  bool weights_finite();
  void set_feed(const Json& state);  // Feed::restore()
  void spread(bool with_moments);    // what whole() and whole_moments() hold
  Moments collect();                 // into whole() and whole_moments()
  void gather_gradients();           // of the last step: the model has them all
  // Since the run began there were steps at rate 0 alone, which leave no trace.
  void forget_steps();
  void end();
  // Of the others: until rank 0 calls end().
  void obey();

 private:
  using What = RankOrder::What;
  void build_model();
  void build_scorer(const MakeTranslationScorer& make);
  void settle(size_t program, const Log& log);
  void set_products(const Log& log);
  void tell_memory(const Log& log);
  bool first_of_part() const { return replicas_.divided() && replicas_.share().rank == 0; }

  const TrainOptions& options_;
  const Replicas& replicas_;
  RunSpec spec_;
  Backend backend_;
  MemoryPlan memory_;
  std::unique_ptr<Parameters> whole_;    // null where trained_ is all of it, or another rank has it
  std::unique_ptr<Parameters> trained_;  // what this rank computes with
  std::unique_ptr<Transformer> transformer_;
  std::unique_ptr<TranslationScorer> scorer_;  // null: no metric translates
  std::unique_ptr<Feed> feed_;
  Json begin_;                             // of the feed
  std::unique_ptr<ValidPass> valid_pass_;  // null: there is no text of validation
  std::unique_ptr<Stepper> stepper_;
  StepRecord record_;  // of the last step
  bool rehearsed_ = false;
};

}  // namespace tx
