// How the ranks of a training go together. Rank 0 is the whole training: it builds the text's
// cache, validates, logs, saves and decides. The others follow: they have the same weights, moments
// and batches, and do what rank 0 tells them.
#pragma once
#include "lib/ranks/communicator.h"
#include "lib/train/options.h"

namespace tx {

class Parameters;
struct TrainingParts;

struct RankOrder {
  enum class What : int32_t { step, release, weights, end };
  What what = What::end;
  int64_t number = 0;  // of a step: the arguments of Stepper::launch()
  double rate = 0, loss_limit = 0;
};

// Rank 0's side. Without other ranks every call does nothing.
class Leader {
 public:
  Leader() = default;
  explicit Leader(Communicator* ranks) : ranks_(ranks) {}
  // UsageError where the ranks cannot share the steps of these options.
  void check(const TrainOptions& options) const;
  // Tells what a training is of and where it stands, and has the Stepper share its steps.
  void begin(TrainingParts& parts, const TrainOptions& options, const Json& given);
  void step(int64_t number, double rate, double loss_limit);
  void release();                        // of the last step
  void weights(const Parameters& from);  // and moments: the run went back
  void end();

  int ranks() const { return ranks_ ? ranks_->size() : 1; }

 private:
  void tell(const RankOrder& order);
  Communicator* ranks_ = nullptr;
};

// What every other rank does instead of a training; returns its exit status when rank 0 ends it.
// Error, with rank and host, where this rank has another tx, other options or another text.
int follow(Communicator& ranks, TrainOptions& options, Options& given);

}  // namespace tx
