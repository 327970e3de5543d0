// Tensor parallelism (Shoeybi et al., 2019): each rank has a shard, some heads of every attention,
// some columns of every feed-forward layer and some tokens of every vocabulary, and computes with
// them as with a smaller model. Norms, learned positions and biases after a sum are replicated. Ops
// that read a weight know where to sum (Parameter::split); dropout masks and targets are numbered as
// in the whole model, which rank 0 reads and writes.
#pragma once
#include <span>
#include <vector>

#include "lib/model/config.h"
#include "lib/model/division.h"
#include "lib/ranks/communicator.h"

namespace tx {

class Parameters;
struct ParameterEntry;

struct ModelShard {
  int index = 0, count = 1;
  Communicator* ranks = nullptr;  // those that hold the shards, in order; null if there is one

  bool whole() const { return count == 1; }
  ElementRange of(int64_t n) const;  // this shard's range of n heads, features or tokens
};

// Token ids relative to the shard that has `tokens` of the vocabulary; -1 for all others.
std::vector<int32_t> shard_ids(const ElementRange& tokens, std::span<const int32_t> ids);

// UsageError unless `count` divides the sizes of the model; `config` is resolved.
void check_shards(const ModelConfig& config, int count);
// The configuration of a shard as a model of its own.
ModelConfig shard_config(const ModelConfig& whole, const ModelShard& shard);

// The rows and columns of a weight of the whole model that a shard has.
struct EntryShard {
  ElementRange rows, cols;
};
EntryShard shard_of(const ParameterEntry& whole, const ModelShard& shard);

// Move flat blocks, (1, elements), between the whole model on rank 0 and the shards. `whole` is
// empty on other ranks; `own` has the layout of `shard`. Collective. Host memory only.
void scatter_shards(const Parameters& shard, Matrix whole, Matrix own);
void gather_shards(const Parameters& shard, Matrix own, Matrix whole);

}  // namespace tx
