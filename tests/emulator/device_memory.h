// The memory of the emulated device.
#pragma once
#include <cstddef>
#include <map>

namespace emulator {

// A number from the environment.
size_t setting(const char* name, size_t standard);

// Memory that the host cannot touch: mapped without rights but while work runs. Every allocation
// starts as NaN and ends in a guard that is looked at when it is freed.
class DeviceMemory {
 public:
  DeviceMemory();
  size_t size() const { return size_; }
  size_t free_bytes() const { return size_ - used_; }
  bool owns(const void* p) const { return p >= base_ && p < base_ + size_; }
  bool holds(const void* p, size_t bytes) const;  // in one allocation
  void* allocate(size_t bytes);                   // null: no room
  bool release(void* data);                       // false: not an allocation

  // The host may touch it while one of these exists.
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
