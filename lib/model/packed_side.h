// One side of a packed batch: sentences one after another, without padding.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lib/base/error.h"
#include "lib/tensor/device_ints.h"

namespace tx {

// In the backend's memory: sentence s holds rows offsets[s] .. offsets[s+1] - 1.
struct PackedSide {
  const int32_t* ids = nullptr;      // N
  const int32_t* offsets = nullptr;  // B + 1
  RowKeys keys;                      // N each
  int64_t rows = 0, sentences = 0;
  const int32_t* by_id = nullptr;  // N: rows by rising id, see embed_backward(); may be null
};

// The same on the host; the arrays belong to the caller.
struct HostSide {
  std::span<const int32_t> ids, offsets;
  std::span<const uint32_t> pair, position;
};

// The device's copy of one side, in arrays that keep their place while nothing grows.
class DeviceSide {
 public:
  explicit DeviceSide(Backend& backend)
      : ids_(backend), offsets_(backend), pair_(backend), position_(backend) {}

  // What is returned stays valid until the next call.
  PackedSide upload(const HostSide& side);
  // Whole sentences of ids; sentence s is pair s, its positions count from 0.
  PackedSide upload(std::span<const std::span<const int>> sentences);

 private:
  DeviceInts ids_, offsets_, pair_, position_;
};

}  // namespace tx
