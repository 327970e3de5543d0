// The part of a training that every rank has: text, model, and what computes its steps. Rank 0
// makes the calls below; each one is broadcast to the other ranks, which are in obey() and make it
// too.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "lib/base/log.h"
#include "lib/train/run/run_spec.h"
#include "lib/train/step/feed.h"
#include "lib/train/step/plan.h"

namespace tx {

class Run {
 public:
  // Collective, with rank 0's spec on every rank; options and replicas outlive it. The weights are
  // undefined until spread(). `scorer` creates the scorer of --valid-metric bleu and chrf. Throws
  // what its members throw, and Error if memory cannot be allocated.
  Run(const TrainOptions& options, RunSpec spec, const Replicas& replicas,
      const MakeTranslationScorer& scorer, const Log& log);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const RunSpec& spec() const { return spec_; }         // with what was resolved
  const MemoryPlan& memory() const { return memory_; }  // of rank 0
  Backend& backend() { return backend_; }
  const Replicas& replicas() const { return replicas_; }
  const Feed& feed() const { return *feed_; }
  const StepTimes& times() const { return stepper_->times(); }
  // The whole model on rank 0, as files hold it. With tensor parallelism rank 0 computes with its
  // own shard instead.
  Parameters& whole() const { return whole_ ? *whole_ : *trained_; }
  OptimizerState whole_optimizer_state() const {
    return whole_ ? whole_->optimizer_state() : stepper_->whole_optimizer_state();
  }

  // Runs the largest batch through the model, so that a lack of memory shows before the first step.
  // Later calls do nothing.
  void rehearse();
  StepRecord step(int64_t number, double rate, double loss_limit);  // the feed's next batches
  StepRecord release();   // applies the update that the last step held back
  StepRecord validate();  // sums over the validation text
  // Scores of its translations; nothing if `stop`, on rank 0, returned true.
  std::optional<std::vector<double>> translate(const std::function<bool()>& stop = {});
  bool weights_finite();
  void set_feed(const Json& state);        // Feed::restore()
  void spread(bool with_optimizer_state);  // from whole() and whole_optimizer_state() to all ranks
  OptimizerState collect();                // from all ranks to whole() and whole_optimizer_state()
  void gather_gradients();                 // of the last step, to all ranks
  Json gradient_norms();                   // of the last step, by layer: Update::gradient_norms()
  // Resets feed and optimizer state after steps at rate 0.
  void forget_steps();
  void end();
  // On the other ranks: makes rank 0's calls until end().
  void obey();

 private:
  using What = RankOrder::What;
  void build_model();
  void build_scorer(const MakeTranslationScorer& make);
  void settle(size_t program, const Log& log);
  void compare_processors(const Log& log) const;
  void set_products(const Log& log);
  void report_memory(const Log& log);
  bool first_of_part() const { return replicas_.divided() && replicas_.share().rank == 0; }

  const TrainOptions& options_;
  const Replicas& replicas_;
  RunSpec spec_;
  Backend backend_;
  MemoryPlan memory_;
  std::unique_ptr<Parameters> whole_;    // only on rank 0 with tensor parallelism
  std::unique_ptr<Parameters> trained_;  // the weights that this rank computes with
  std::unique_ptr<Transformer> transformer_;
  std::unique_ptr<TranslationScorer> scorer_;  // null: no metric translates
  std::unique_ptr<Feed> feed_;
  Json begin_;                             // the feed's state before the first step
  std::unique_ptr<ValidPass> valid_pass_;  // null: no validation text
  std::unique_ptr<Stepper> stepper_;
  StepRecord record_;  // of the last step
  bool rehearsed_ = false;
};

}  // namespace tx
