// Arrays in the backend's memory that grow.
#pragma once
#include <span>
#include <utility>

#include "kernels/backend.h"

namespace tx {

// Bytes, zeroed when they are allocated.
class DeviceBytes {
 public:
  explicit DeviceBytes(Backend& backend) : backend_(backend) {}
  ~DeviceBytes() { release(); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  // At least `bytes`. Growing changes the address, zeroes the memory and loses its content.
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

// 4-byte words that both the host and kernels access: allocate_shared().
class SharedWords {
 public:
  explicit SharedWords(Backend& backend) : backend_(backend) {}
  ~SharedWords() { backend_->release_shared(data_); }
  SharedWords(const SharedWords&) = delete;
  SharedWords& operator=(const SharedWords&) = delete;

  // At least `count` words. Growing changes the address and loses the content; whether it grew.
  bool reserve(size_t count) {
    if (count <= count_) return false;
    backend_->release_shared(std::exchange(data_, nullptr));
    count_ = 0;
    data_ = backend_->allocate_shared(count * 4);
    count_ = count;
    return true;
  }
  template <class T>
  T* data() const {
    static_assert(sizeof(T) == 4);
    return static_cast<T*>(data_);
  }

 private:
  Backend& backend_;
  void* data_ = nullptr;
  size_t count_ = 0;
};

// Integers copied from the host: ids, offsets, row keys.
class DeviceInts {
 public:
  explicit DeviceInts(Backend& backend) : backend_(backend) {}
  ~DeviceInts() { backend_->release(data_); }
  DeviceInts(const DeviceInts&) = delete;
  DeviceInts& operator=(const DeviceInts&) = delete;

  // Memory for `count` integers, without a change of address in set(). Whether it changed now.
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
