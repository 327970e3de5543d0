// A growing array of integers in the backend's memory, filled from the host: ids, offsets, row
// keys.
#pragma once
#include <span>

#include "kernels/backend.h"

namespace tx {

class Ints {
 public:
  explicit Ints(Backend& backend) : backend_(backend) {}
  ~Ints() {
    on(backend_, [&](auto& k) { k.release(data_); });
  }
  Ints(const Ints&) = delete;
  Ints& operator=(const Ints&) = delete;

  template <class T>
  const T* set(std::span<const T> values) {
    static_assert(sizeof(T) == 4);
    on(backend_, [&](auto& k) {
      if (values.size_bytes() > bytes_) {
        k.release(data_);
        data_ = nullptr;  // allocate() may throw
        bytes_ = 0;
        data_ = k.allocate(values.size_bytes() * 3 / 2);
        bytes_ = values.size_bytes() * 3 / 2;
      }
      k.upload(data_, values.data(), values.size_bytes());
    });
    return static_cast<const T*>(data_);
  }

 private:
  Backend& backend_;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace tx
