// Bytes of the backend's memory, taken when they are needed.
#pragma once
#include "kernels/backend.h"

namespace tx {

class DeviceBytes {
 public:
  explicit DeviceBytes(Backend& backend) : backend_(backend) {}
  ~DeviceBytes() { release(); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  // At least so many, at one address for as long as no call asks for more; more of them are zero,
  // and what stood there is lost.
  char* reserve(size_t bytes) {
    if (bytes > bytes_) {
      release();
      data_ = backend_->allocate(bytes);
      bytes_ = bytes;
      backend_->zero(data_, bytes);
    }
    return data();
  }
  char* data() const { return static_cast<char*>(data_); }

 private:
  void release() {
    backend_->release(data_);
    data_ = nullptr;
    bytes_ = 0;
  }

  Backend& backend_;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace tx
