// The memory of the emulated device.
#pragma once
#include <cstddef>
#include <map>

namespace emulator {

// A number from the environment variable `name`, or `standard`.
size_t setting(const char* name, size_t standard);

// Memory that the host can access only while work runs. Every allocation is filled with NaN and
// ends in a guard, which is checked when it is freed.
class DeviceMemory {
 public:
  DeviceMemory();
  size_t size() const { return size_; }
  size_t free_bytes() const { return size_ - used_; }
  bool owns(const void* p) const { return p >= base_ && p < base_ + size_; }
  bool holds(const void* p, size_t bytes) const;  // within one allocation
  void* allocate(size_t bytes);                   // null: out of memory
  bool release(void* data);                       // false: not an allocation

  // The host can access the memory while an Access exists.
  struct Access {
    explicit Access(DeviceMemory& m);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;
    DeviceMemory& memory;
  };

 private:
  struct Block {
    size_t bytes, need;
  };
  void protect(int rights);
  char* base_;
  size_t size_, used_ = 0, protected_ = 0;
  int depth_ = 0;
  std::map<size_t, Block> blocks_;
};

}  // namespace emulator
