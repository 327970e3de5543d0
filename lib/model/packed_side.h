// One side of a packed batch: sentences one after another, without padding.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lib/base/error.h"
#include "lib/tensor/device_array.h"

namespace tx {

// In the backend's memory. Sentence s has the rows offsets[s] .. offsets[s+1] - 1.
struct PackedSide {
  const int32_t* ids = nullptr;      // N
  const int32_t* offsets = nullptr;  // B + 1
  RowKeys keys;                      // N each
  int64_t rows = 0, sentences = 0;
  const int32_t* by_id = nullptr;  // N: rows by ascending id, see embed_backward(); may be null
  const int32_t* cut = nullptr;    // N: not 0 for rows without their token; may be null
};

// The same on the host; the caller owns the arrays.
struct HostSide {
  std::span<const int32_t> ids, offsets;
  std::span<const uint32_t> pair, position;
};

// Copies a side to the backend's memory, in arrays that are reallocated only to grow.
class DeviceSide {
 public:
  explicit DeviceSide(Backend& backend)
      : ids_(backend), offsets_(backend), pair_(backend), position_(backend) {}

  // The result is valid until the next call.
  PackedSide upload(const HostSide& side);
  // Whole sentences of ids; sentence s is pair s, and its positions start at 0.
  PackedSide upload(std::span<const std::span<const int>> sentences);

 private:
  DeviceInts ids_, offsets_, pair_, position_;
};

inline PackedSide DeviceSide::upload(const HostSide& side) {
  TX_ASSERT(!side.offsets.empty() && side.pair.size() == side.ids.size() &&
            side.position.size() == side.ids.size());
  PackedSide p;
  p.ids = ids_.set<int32_t>(side.ids);
  p.offsets = offsets_.set<int32_t>(side.offsets);
  p.keys = {pair_.set<uint32_t>(side.pair), position_.set<uint32_t>(side.position)};
  p.rows = int64_t(side.ids.size());
  p.sentences = int64_t(side.offsets.size()) - 1;
  return p;
}

inline PackedSide DeviceSide::upload(std::span<const std::span<const int>> sentences) {
  std::vector<int32_t> ids, offsets{0};
  std::vector<uint32_t> pair, position;
  for (size_t s = 0; s < sentences.size(); ++s) {
    for (size_t i = 0; i < sentences[s].size(); ++i) {
      ids.push_back(sentences[s][i]);
      pair.push_back(uint32_t(s));
      position.push_back(uint32_t(i));
    }
    offsets.push_back(int32_t(ids.size()));
  }
  return upload({ids, offsets, pair, position});
}

}  // namespace tx
