// Heads of attention that are switched off: nothing of what they gather reaches the sub-layer's
// output. Their columns of the output projection are zero, so that no kernel knows of it.
#pragma once
#include <map>
#include <set>
#include <string>

#include "lib/model/parameters.h"

namespace tx {

class HeadMask {
 public:
  HeadMask() = default;
  // A list such as "encoder.2.5,cross.1.0": kind, layer and head from 0; * is all of them.
  // UsageError names `option` and what the model has.
  HeadMask(const std::string& list, const ModelConfig& config, const std::string& option);
  bool empty() const { return heads_.empty(); }
  const std::set<int>* find(const std::string& projection) const;  // null: none of its heads
  // The weight whose columns are the heads of this attention, d_v for each.
  static std::string projection(const std::string& kind, int layer, const ModelConfig& config);

 private:
  void add(const std::string& text, const ModelConfig& config, const std::string& option);
  std::map<std::string, std::set<int>> heads_;  // by the name of the output projection's weight
};

// The weights of another source without these heads. Both must outlive it.
class MaskedWeights final : public WeightSource {
 public:
  MaskedWeights(const WeightSource& of, const HeadMask& mask, int d_v)
      : of_(of), mask_(mask), d_v_(d_v) {}
  WeightRows rows(const ParameterEntry& entry) const override;
  Int8Weights int8(std::span<const ParameterEntry> joined) const override;
  void finished(const ParameterEntry& entry) const override { of_.finished(entry); }

 private:
  const WeightSource& of_;
  const HeadMask& mask_;
  int d_v_;
};

}  // namespace tx
