// One model over several ranks (Shoeybi et al., 2019): each has some heads of every attention, some
// columns of every feed-forward layer and some tokens of every vocabulary, and computes with them
// as with a smaller model. Norms, the biases behind sums over the ranks, and learned positions are
// on all ranks alike.
#pragma once
#include <span>
#include <vector>

#include "lib/model/config.h"
#include "lib/ranks/communicator.h"

namespace tx {

struct ParameterEntry;

struct Share {
  int64_t first = 0, count = 0;
};

struct ModelPart {
  int index = 0, count = 1;
  Communicator* ranks = nullptr;  // of the parts, in their order; null where there is one

  bool whole() const { return count == 1; }
  Share of(int64_t n) const;  // this part's share of n of anything
};

// The ids of a vocabulary as the part knows them that has `tokens` of it: from 0, others -1.
std::vector<int32_t> own_ids(const Share& tokens, std::span<const int32_t> ids);

// UsageError, by the option's name, where a model cannot be had in so many parts. `config` is
// resolved, but for its vocabularies.
void check_parts(const ModelConfig& config, int count);
// What a part is as a model of its own.
ModelConfig config_of(const ModelConfig& whole, const ModelPart& part);

// Where in a weight of the whole model that of a part stands.
struct PartOfEntry {
  Share rows, cols;
};
PartOfEntry part_of(const ParameterEntry& whole, const ModelPart& part);

}  // namespace tx
