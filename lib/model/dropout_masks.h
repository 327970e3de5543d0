// Dropout masks depend on their site, a number for each place in the model, not on packing.
#pragma once
#include <cstdint>

#include "kernels/view.h"

namespace tx {

// The rates of a run; all zero for inference.
struct DropoutRates {
  double dropout = 0, attention_dropout = 0, relu_dropout = 0;
  uint32_t seed = 0;
  const StepRecord* record = nullptr;
};

// Never change these numbers: the masks of a seed depend on them.
enum class DropoutPlace : uint32_t {
  on_embedding,
  on_self,
  on_cross,
  on_feed_forward,
  in_self,
  in_cross,
  in_feed_forward
};

// Where a tensor-parallel shard begins among the heads and the features of the feed-forward layer.
struct ShardStart {
  uint32_t head = 0;
  int64_t feature = 0;
};

// The masks of one stack. Those of attention weights depend on the head of the whole model.
class DropoutMasks {
 public:
  DropoutMasks(const DropoutRates& rates, uint32_t stack, RowKeys keys, ShardStart start)
      : rates_(rates), stack_(stack), keys_(keys), start_(start) {}

  Dropout at(DropoutPlace place, int layer = 0) const {
    const uint32_t site = stack_ << 15 | uint32_t(layer) << 4 | uint32_t(place);
    Dropout drop = dropout(rate(place), rates_.seed, site, rates_.record, keys_);
    if (place == DropoutPlace::in_self || place == DropoutPlace::in_cross)
      drop.site += start_.head << 16;
    if (place == DropoutPlace::in_feed_forward) drop.first = start_.feature;
    return drop;
  }

 private:
  double rate(DropoutPlace place) const {
    if (place == DropoutPlace::in_feed_forward) return rates_.relu_dropout;
    const bool attention = place == DropoutPlace::in_self || place == DropoutPlace::in_cross;
    return attention ? rates_.attention_dropout : rates_.dropout;
  }
  DropoutRates rates_;
  uint32_t stack_;
  RowKeys keys_;
  ShardStart start_;
};

}  // namespace tx
