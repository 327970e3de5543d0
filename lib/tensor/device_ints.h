// A growing array of integers in the backend's memory, filled from the host: ids, offsets, row
// keys.
#pragma once
#include <span>

#include "kernels/backend.h"

namespace tx {

class DeviceInts {
 public:
  explicit DeviceInts(Backend& backend) : backend_(backend) {}
  ~DeviceInts() { backend_->release(data_); }
  DeviceInts(const DeviceInts&) = delete;
  DeviceInts& operator=(const DeviceInts&) = delete;

  // Makes room for `count` integers: arrays up to that size then stay at one address. Returns
  // whether the address changed.
  bool reserve(size_t count) {
    if (count * 4 <= bytes_) return false;
    backend_->release(data_);
    data_ = nullptr;  // allocate() may throw
    bytes_ = 0;
    data_ = backend_->allocate(count * 4);
    bytes_ = count * 4;
    return true;
  }
  int32_t* data() const { return static_cast<int32_t*>(data_); }
  template <class T>
  const T* set(std::span<const T> values) {
    static_assert(sizeof(T) == 4);
    if (values.size_bytes() > bytes_) reserve(values.size() * 3 / 2);
    backend_->upload(data_, values.data(), values.size_bytes());
    return static_cast<const T*>(data_);
  }

 private:
  Backend& backend_;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace tx
