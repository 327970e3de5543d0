#include "lib/model/head_mask.h"

#include <algorithm>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/split.h"

namespace tx {

namespace {

// The attentions of one kind in a model.
struct Place {
  std::string kind, stack, sub_layer;
  int layers;
  std::string projection(int layer) const {
    return stack + ".layers." + std::to_string(layer) + "." + sub_layer + ".out_proj.weight";
  }
};

std::vector<Place> places(const ModelConfig& c) {
  std::vector<Place> all;
  for (size_t side = 0; side < c.sides.size(); ++side) {
    const std::string stack = c.stack_name(side);
    if (c.self_attends(side)) all.push_back({stack, stack, "self_attn", c.sides[side].layers});
    if (c.has_cross(side)) all.push_back({"cross", stack, "cross_attn", c.sides[side].layers});
  }
  return all;
}

// The numbers below `count` that a number or * selects; empty if `text` is neither or too large.
std::vector<int> numbers(const std::string& text, int count) {
  std::vector<int> all;
  int number = -1;
  const bool one = parse_number(text, number);
  for (int i = 0; i < count; ++i)
    if (text == "*" || (one && i == number)) all.push_back(i);
  return all;
}

}  // namespace

HeadMask::HeadMask(const std::string& list, const ModelConfig& config, const std::string& option) {
  if (list.empty()) return;
  for (const std::string& text : split_at(list, ',')) add(text, config, option);
}

void HeadMask::add(const std::string& text, const ModelConfig& config, const std::string& option) {
  const std::vector<std::string> parts = split_at(text, '.');
  const std::vector<Place> all = places(config);
  const auto place =
      std::find_if(all.begin(), all.end(), [&](const Place& p) { return p.kind == parts.front(); });
  if (parts.size() != 3 || place == all.end()) {
    std::string kinds;
    for (const Place& p : all) kinds += (kinds.empty() ? "" : ", ") + p.kind;
    throw UsageError(option + ": '" + text + "' must be KIND.LAYER.HEAD, such as " + all[0].kind +
                     ".0.1; the kinds of this model are " + kinds);
  }
  const auto check = [&](const std::string& number, int count, const std::string& things) {
    const std::vector<int> found = numbers(number, count);
    if (found.empty())
      throw UsageError(option + " " + text + ": '" + number + "' is not one of its " + things +
                       " (0 to " + std::to_string(count - 1) + ", or * for all)");
    return found;
  };
  const std::vector<int> heads = check(parts[2], config.heads, "heads");
  for (const int layer : check(parts[1], place->layers, "layers"))
    heads_[place->projection(layer)].insert(heads.begin(), heads.end());
}

std::string HeadMask::projection(const std::string& kind, int layer, const ModelConfig& config) {
  for (const Place& place : places(config))
    if (place.kind == kind) return place.projection(layer);
  throw Bug("the model has attention of this kind", __FILE__, __LINE__);
}

const std::set<int>* HeadMask::find(const std::string& projection) const {
  const auto found = heads_.find(projection);
  return found == heads_.end() ? nullptr : &found->second;
}

WeightRows MaskedWeights::rows(const ParameterEntry& entry) const {
  WeightRows rows = of_.rows(entry);
  const std::set<int>* const heads = mask_.find(entry.name);
  if (heads == nullptr) return rows;
  const auto read = rows.read;
  const int64_t cols = rows.cols, width = d_v_;
  const std::set<int> masked = *heads;
  rows.read = [=](int64_t first, int64_t count, float* to) {
    read(first, count, to);
    for (int64_t i = 0; i < count; ++i)
      for (const int head : masked) std::fill_n(to + i * cols + head * width, width, 0.0f);
  };
  return rows;
}

Int8Weights MaskedWeights::int8(std::span<const ParameterEntry> joined) const {
  for (const ParameterEntry& entry : joined)
    if (mask_.find(entry.name)) return {};
  return of_.int8(joined);
}

}  // namespace tx
