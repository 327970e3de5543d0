// The part of a training that every rank has: text, model, and what computes its steps.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/train/plan/memory.h"
#include "lib/train/plan/schedule.h"
#include "lib/train/run/run_spec.h"
#include "lib/train/step/feed.h"

namespace tx {

class Run {
 public:
  // Collective, with rank 0's spec on every rank; replicas outlive it. Fixes the size of a batch.
  // The weights are undefined until initialise() or spread(). Error if memory cannot be allocated.
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
  double begun() const { return begun_; }  // when it was made, by steady_seconds()
  double seconds() const { return steady_seconds() - begun_; }
  CountSteps counter() const {
    return [this](int64_t epochs, int64_t max) { return feed_->steps(epochs, max); };
  }
  // The whole model on rank 0, as files hold it; its own shard may be what it computes with.
  Parameters& whole() const { return whole_ ? *whole_ : *trained_; }
  OptimizerState whole_optimizer_state() const {
    return whole_ ? whole_->optimizer_state() : stepper_->whole_optimizer_state();
  }

  // Calls of rank 0 that all ranks make together: the others, in obey(), repeat them.

  // Runs the largest batch once, so that a lack of memory shows before the first step.
  void rehearse(const RankCall& = {});
  StepRecord step(const RankCall& step);      // with the feed's next batches
  StepRecord release(const RankCall& = {});   // applies the update that the last step held back
  StepRecord validate(const RankCall& = {});  // sums over the validation text
  // Scores of its translations; nothing if stop_translating() said so.
  std::optional<std::vector<double>> translate(const RankCall& = {});
  bool weights_finite(const RankCall& = {});
  // From whole() and whole_optimizer_state() (only if RankCall::optimizer_state) to all ranks.
  void spread(const RankCall& how);
  OptimizerState collect(const RankCall& = {});  // from all ranks to whole() and that state
  void gather_gradients(const RankCall& = {});   // of the last step, to all ranks
  // Of the last step, by layer: Update::gradient_norms().
  Json gradient_norms(const RankCall& = {});
  void forget_steps(const RankCall& = {});  // resets feed and optimizer state after steps at rate 0
  void agree_on_feed(const RankCall& = {});  // continues at rank 0's place in the text
  void end(const RankCall& = {});

  // Of rank 0.
  void initialise();                 // random weights, or those of --init, on all ranks
  void set_feed(const Json& state);  // Feed::restore() on all ranks
  // translate() stops once this returns true.
  void stop_translating(std::function<bool()> when) { stop_ = std::move(when); }

  // Of the other ranks: makes rank 0's calls until end().
  void obey();

 private:
  template <auto method>
  void announce(RankCall call) const;
  void build_model();
  void build_scorer(const MakeTranslationScorer& make);
  void build_step(size_t program, const Log& log);
  void compare_processors(const Log& log) const;
  void set_products(const Log& log);
  void report_memory(const Log& log);
  bool first_of_part() const { return replicas_.divided() && replicas_.share().rank == 0; }

  const double begun_ = steady_seconds();
  const TrainOptions options_;
  const Replicas& replicas_;
  RunSpec spec_;
  Backend backend_;
  MemoryPlan memory_;
  std::unique_ptr<Parameters> whole_;    // only on rank 0 with tensor parallelism
  std::unique_ptr<Parameters> trained_;  // the weights that this rank computes with
  std::unique_ptr<Transformer> transformer_;
  std::unique_ptr<TranslationScorer> scorer_;  // null: no metric translates
  std::unique_ptr<Feed> feed_;
  Json begin_, next_;                      // states of the feed: before step 1; of set_feed()
  std::unique_ptr<ValidPass> valid_pass_;  // null: no validation text
  std::unique_ptr<Stepper> stepper_;
  StepRecord record_;  // of the last step
  bool rehearsed_ = false, ended_ = false;
  std::function<bool()> stop_;  // of translate(), on rank 0
};

}  // namespace tx
