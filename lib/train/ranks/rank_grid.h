// The ranks of a training where each layer lies on T of them: rank t + T d has part t of the model
// and share d of a step's batches. The ranks of one share exchange what lies between the parts of a
// layer; those of one part add gradients and divide moments, as ranks do that have whole models.
#pragma once
#include <memory>

#include "lib/model/division.h"
#include "lib/model/model_part.h"
#include "lib/model/parameters.h"
#include "lib/ranks/communicator.h"

namespace tx {

class Stepper;

class RankGrid {
 public:
  RankGrid() = default;  // of a process that stands alone
  // All ranks together; `all` outlives this. Rank 0 says how many parts there are, which divides
  // the number of ranks.
  RankGrid(Communicator& all, int parts);

  int ranks() const { return all_ ? all_->size() : 1; }
  ModelPart part() const;
  bool divided() const { return parts_ != nullptr; }  // whether there are several parts
  RankOf share() const;                               // of a step's batches
  Communicator* sharers();  // the ranks that have this part; null where it is alone
  // Whether this rank exchanges weights with rank 0, for those that have the same part.
  bool first_of_part() const { return divided() && share().rank == 0; }

  // What rank 0 has of a whole model, null elsewhere, goes to all ranks: `own` is what this rank
  // computes with. Where the model is not divided `whole` is `own` itself, with
  // Stepper::whole_moments().
  void spread(const Parameters* whole, Parameters& own, Stepper& stepper, bool with_moments);
  // And back. Where the model is not divided only moments are collected.
  void collect(const Parameters* whole, const Parameters& own, Stepper& stepper);

 private:
  Communicator* all_ = nullptr;
  std::unique_ptr<Communicator> parts_, sharers_;  // null where nothing is divided
};

}  // namespace tx
