// Masked attention heads: their columns of the output projection are zero, without any kernel.
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
  // UsageError names `option` and the valid values.
  HeadMask(const std::string& list, const ModelConfig& config, const std::string& option);
  bool empty() const { return heads_.empty(); }
  const std::set<int>* find(const std::string& projection) const;  // null: none of its heads
  // The output projection of an attention: its columns are the heads, d_v each.
  static std::string projection(const std::string& kind, int layer, const ModelConfig& config);

 private:
  void add(const std::string& text, const ModelConfig& config, const std::string& option);
  std::map<std::string, std::set<int>> heads_;  // by output projection
};

// The weights of another source with the heads masked. Both must outlive it.
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
