// The end of a step: gradient norm, the decision whether to update, and Adam, SGD or Muon. Each of
// several ranks updates its shards, for which it holds the optimizer state (ZeRO), then all gather.
#pragma once
#include "lib/base/json.h"
#include "lib/model/parameters.h"
#include "lib/train/options/options.h"
#include "lib/train/ranks/shards.h"
#include "lib/train/step/muon.h"

namespace tx {

class Update {
 public:
  // `record` is in the memory of the parameters' backend.
  Update(Parameters& parameters, const TrainOptions& options, StepRecord* record);
  ~Update();

  // Makes run() collective; it then reads only this rank's shards of the gradients.
  void share(Shards& shards) { shards_ = &shards; }
  void run();
  // The norm of a whole block and the decision of gradient_norm(), in the record. Collective with
  // tensor parallelism, where it is the norm over the blocks of all shards.
  void norm(Matrix block) {
    parameters_.backend()->square_sums(block, squares_);
    decide();
  }
  // The norms of the gradients by part of the model: a layer ("encoder.layers.0"), or one of the
  // weights outside layers ("embedding", "encoder.norm"). Their squares add up to the square of the
  // record's gradient norm. Reads whole gradients; collective with tensor parallelism.
  Json gradient_norms();

 private:
  double square_sum(const ParameterEntry& entry);
  void decide();  // by squares_ of this tensor-parallel shard and of the others
  // `state`: the optimizer state of a range of the block begins at this element.
  struct Held {
    ElementRange range;
    int64_t state = 0;
    Held part(ElementRange of) const {
      const ElementRange both = intersection(range, of);
      return {both, state + both.first - range.first};
    }
  };
  std::vector<Held> held() const;  // what this rank updates
  void update(const Held& held, Matrix bf16_weights);
  void update_all(Matrix bf16_weights);

  Parameters& parameters_;
  bool sgd_;
  AdamSettings settings_;  // SGD uses only the weight decay
  StepRecord* record_;
  Matrix squares_;  // of square_sums()
  Matrix all_;      // with tensor parallelism: those of every shard, padded to the largest
  Shards* shards_ = nullptr;
  std::unique_ptr<Muon> muon_;  // null: Adam or SGD updates everything
};

}  // namespace tx
