#include "lib/model/picked_output.h"

namespace tx {

PickedOutput::~PickedOutput() {
  backend_->release_prepared(picked_.weight.value);
  backend_->release(picked_.bias.value.data);
}

void PickedOutput::pick(const Projection& output, std::span<const int32_t> ids) {
  const int64_t count = int64_t(ids.size());
  backend_->pick_rows(output.weight.value, ids.data(), count, picked_.weight.value);
  if (!output.bias) return;
  Matrix& bias = picked_.bias.value;
  const size_t bytes = size_t(count) * size_of(output.bias.value.dtype);
  if (bytes > bias_room_) {
    backend_->release(bias.data);
    bias = {};  // allocate() may throw
    bias_room_ = 0;
    bias.data = backend_->allocate(bytes * 3 / 2);
    bias_room_ = bytes * 3 / 2;
  }
  bias = matrix(bias.data, output.bias.value.dtype, 1, count);
  backend_->gather_columns(output.bias.value, ids_.set(ids), bias);
}

}  // namespace tx
