#include "lib/model/model_part.h"

#include "lib/base/error.h"
#include "lib/model/parameters.h"

namespace tx {

// As even as can be. Where the count divides n, part after part of one size.
Share ModelPart::of(int64_t n) const {
  const auto begin = [&](int64_t i) { return n * i / count; };
  return {begin(index), begin(index + 1) - begin(index)};
}

std::vector<int32_t> own_ids(const Share& tokens, std::span<const int32_t> ids) {
  std::vector<int32_t> own;
  own.reserve(ids.size());
  for (const int32_t id : ids) {
    const int64_t at = id - tokens.first;
    own.push_back(at >= 0 && at < tokens.count ? int32_t(at) : -1);
  }
  return own;
}

void check_parts(const ModelConfig& config, int count) {
  const auto check = [&](const char* option, int64_t value) {
    if (value % count != 0)
      throw UsageError("--tensor-parallel " + std::to_string(count) + " does not divide " + option +
                       " " + std::to_string(value));
  };
  check("--heads", config.heads);
  check("--kv-heads", config.key_heads());
  check("--d-ff", config.d_ff);
}

ModelConfig config_of(const ModelConfig& whole, const ModelPart& part) {
  if (part.whole()) return whole;
  ModelConfig own = whole;
  own.heads = whole.heads / part.count;
  own.kv_heads = whole.key_heads() / part.count;
  own.d_ff = whole.d_ff / part.count;
  for (SideConfig& side : own.sides) side.vocabulary = part.of(side.vocabulary).count;
  return own;
}

PartOfEntry part_of(const ParameterEntry& whole, const ModelPart& part) {
  PartOfEntry own{{0, whole.rows}, {0, whole.cols}};
  if (whole.split == Split::inputs || (whole.vector && whole.split == Split::outputs))
    own.cols = part.of(whole.cols);
  else if (whole.split == Split::outputs)
    own.rows = part.of(whole.rows);
  return own;
}

}  // namespace tx
