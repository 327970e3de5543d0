// The end of a step: the norm of the gradients, the decision about the update, and Adam or SGD.
// With several ranks each updates its shards of the block, whose moments it holds, and all get the
// weights of all.
#pragma once
#include "lib/model/parameters.h"
#include "lib/train/options/options.h"
#include "lib/train/ranks/shards.h"

namespace tx {

class Update {
 public:
  // `record` lies in the memory of the parameters' backend.
  Update(Parameters& parameters, const TrainOptions& options, StepRecord* record);
  ~Update();
  Update(const Update&) = delete;
  Update& operator=(const Update&) = delete;

  // From here on run() is of all ranks, and of the gradients it reads its shards alone.
  void share(Shards& shards) { shards_ = &shards; }
  void run();
  // The norm of a whole block, with what gradient_norm() makes of it, in the record. Where the
  // model lies in parts, of the blocks of all of them, which call it together.
  void norm(Matrix block);

 private:
  void decide();  // by the squares of all gradients of this part, about all parts alike
  void update(ElementRange range, ElementRange moments, Matrix copy);

  Parameters& parameters_;
  bool adam_;              // else SGD
  AdamSettings settings_;  // of both: SGD takes its weight decay alone
  StepRecord* record_;
  Matrix squares_;  // of square_sums()
  Matrix all_;      // where the model lies in parts: those of every part, each as many
  Shards* shards_ = nullptr;
};

}  // namespace tx
