// How the ranks of a training go together. Rank 0 is the whole training: it builds the text's
// cache, validates, logs, saves and decides. The others follow: they have the same weights and
// batches, their pieces of the moments, and do what rank 0 tells them.
#pragma once
#include <memory>

#include "lib/model/parameters.h"
#include "lib/ranks/world.h"
#include "lib/train/options/options.h"
#include "lib/train/ranks/rank_grid.h"
#include "lib/train/run/translation_scorer.h"

namespace tx {

class Stepper;
struct Batch;
struct StepRecord;
struct TrainingParts;

struct RankOrder {
  enum class What : int32_t {
    step,
    release,
    validate,
    finite,
    weights,
    moments,
    gradients,
    forget,
    end
  };
  What what = What::end;
  int64_t number = 0;  // of a step: the arguments of Stepper::launch()
  double rate = 0, loss_limit = 0;
};

// Rank 0's side. Without other ranks every call does nothing.
class Leader {
 public:
  Leader() = default;
  explicit Leader(World* ranks) : ranks_(ranks) {}
  // UsageError where the ranks cannot share the steps of these options.
  void check(const TrainOptions& options) const;
  void divide(int parts);  // layers into so many, which check() found to be right
  // Tells what a training is of and where it stands. Its Stepper shares its steps already.
  void begin(TrainingParts& parts, const TrainOptions& options, const Json& given);
  void step(int64_t number, double rate, double loss_limit);
  void release();  // of the last step
  // The run went back: weights and moments are those that rank 0 has loaded, the latter into
  // whole_moments().
  void weights(TrainingParts& parts);
  Moments moments(TrainingParts& parts);  // of all ranks: its whole_moments()
  void gradients(Stepper& stepper);       // rank 0 has all gradients of the last step
  void validate();          // their part of ValidPass::run() and TranslationScorer::score()
  void stop_translating();  // meanwhile, from any thread
  bool weights_finite(Stepper& stepper);
  void forget_steps();  // see lib/train/run/time_budget.h
  void end();

  void share(Stepper& stepper) const;    // its steps with the other ranks
  World* all() const { return ranks_; }  // null: there are no others
  Communicator* sharers() const { return grid_->sharers(); }
  int ranks() const { return ranks_ ? ranks_->size() : 1; }
  const RankGrid& grid() const { return *grid_; }

 private:
  void tell(const RankOrder& order);
  World* ranks_ = nullptr;
  std::shared_ptr<RankGrid> grid_ = std::make_shared<RankGrid>();
};

// What every other rank does instead of a training; returns its exit status when rank 0 ends it.
// Error where this rank has other options or another text.
int follow(World& ranks, TrainOptions& options, Options& given,
           const MakeTranslationScorer& scorer);

}  // namespace tx
