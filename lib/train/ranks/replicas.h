// The processes that train one model together, its ranks. Rank 0 is the whole training: it builds
// the text's cache, validates, logs, saves and decides. The others have the same weights and
// batches, their shards of the moments, and do what rank 0 tells them. A process that stands alone
// is rank 0, and every call is right there, too.
//
// Where each layer lies on T of them, rank t + T d has part t of the model and share d of a step's
// batches. The ranks of one share exchange what lies between the parts of a layer; those of one
// part add gradients and divide moments, as ranks do that have whole models.
#pragma once
#include <memory>
#include <string>

#include "lib/model/division.h"
#include "lib/model/model_part.h"
#include "lib/ranks/communicator.h"
#include "lib/train/options/options.h"

namespace tx {

// What rank 0 tells the others: the call of Run (lib/train/run/run.h) that all make.
struct RankOrder {
  enum class What : int32_t {
    rehearse,
    step,
    release,
    validate,
    translate,
    finite,
    feed,
    spread,
    collect,
    gradients,
    forget,
    end
  };
  What what = What::end;
  int64_t number = 0;  // of a step: the arguments of Run::step(); of spread: with_moments
  double rate = 0, loss_limit = 0;
};

class Replicas {
 public:
  // Null: there are no others. `all` outlives it. UsageError of rank 0 where the ranks cannot share
  // the steps of these options, of which rank 0's --tensor-parallel counts.
  Replicas(World* all, const TrainOptions& options);

  int count() const { return all_ ? all_->size() : 1; }
  bool leads() const { return !all_ || all_->rank() == 0; }
  bool divided() const { return parts_ != nullptr; }  // whether the model has several parts
  ModelPart part() const;
  RankOf share() const;  // of a step's batches
  World* all() const { return all_; }
  Communicator* sharers() const;  // the ranks that have this part; null where it is alone

  std::string agree(std::string bytes) const;  // those of rank 0
  void tell(RankOrder order) const;            // of rank 0; of others it does nothing
  RankOrder hear() const;
  void stop_translating() const;  // of rank 0, from any thread
  bool told_to_stop() const;      // others

 private:
  World* all_;
  std::unique_ptr<Communicator> parts_, sharers_;  // null where nothing is divided
};

}  // namespace tx
