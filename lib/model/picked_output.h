// The output projection of a model for some tokens alone: fewer columns of logits.
#pragma once
#include <span>

#include "lib/model/layer.h"
#include "lib/tensor/device_ints.h"

namespace tx {

class PickedOutput {
 public:
  explicit PickedOutput(Backend& backend) : backend_(backend), ids_(backend) {}
  ~PickedOutput();
  PickedOutput(const PickedOutput&) = delete;
  PickedOutput& operator=(const PickedOutput&) = delete;

  // Column i of the logits is that of token ids[i] of `output`, bit for bit. `output` is prepared
  // for inference.
  void pick(const Projection& output, std::span<const int32_t> ids);
  const Projection& projection() const { return picked_; }

 private:
  Backend& backend_;
  DeviceInts ids_;
  Projection picked_;
  size_t bias_room_ = 0;
};

}  // namespace tx
