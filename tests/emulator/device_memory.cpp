#include "tests/emulator/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulator {

namespace {

constexpr size_t guard = 64;

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "emulated CUDA: %s\n", what);
  std::abort();
}

}  // namespace

size_t setting(const char* name, size_t standard) {
  const char* value = std::getenv(name);
  return value && *value ? size_t(std::atoll(value)) : standard;
}

DeviceMemory::DeviceMemory() : size_(setting("TX_EMULATED_BYTES", size_t(4) << 30)) {
  base_ = static_cast<char*>(
      mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (base_ == MAP_FAILED) die("no address space for device memory");
}

void* DeviceMemory::allocate(size_t bytes) {
  if (bytes > size_) return nullptr;
  const size_t need = (bytes + guard + 255) / 256 * 256;
  size_t at = 0;
  for (const auto& [start, block] : blocks_) {
    if (start - at >= need) break;
    at = start + block.need;
  }
  if (size_ - at < need) return nullptr;
  blocks_[at] = {bytes, need};
  used_ += need;
  Access access(*this);
  std::memset(base_ + at, 0xff, need);
  return base_ + at;
}

bool DeviceMemory::holds(const void* p, size_t bytes) const {
  if (!owns(p)) return false;
  const auto at = size_t(static_cast<const char*>(p) - base_);
  auto block = blocks_.upper_bound(at);
  return block != blocks_.begin() && at + bytes <= (--block)->first + block->second.bytes;
}

bool DeviceMemory::release(void* data) {
  const auto block = blocks_.find(size_t(static_cast<char*>(data) - base_));
  if (!owns(data) || block == blocks_.end()) return false;
  Access access(*this);
  const char* end = static_cast<char*>(data) + block->second.bytes;
  for (size_t i = 0; i < block->second.need - block->second.bytes; ++i)
    if (end[i] != char(0xff)) die("a kernel wrote beyond the end of an allocation");
  madvise(data, block->second.need / 4096 * 4096, MADV_DONTNEED);
  used_ -= block->second.need;
  blocks_.erase(block);
  return true;
}

DeviceMemory::Access::Access(DeviceMemory& m) : memory(m) {
  if (memory.depth_++ == 0) memory.protect(PROT_READ | PROT_WRITE);
}

DeviceMemory::Access::~Access() {
  if (--memory.depth_ == 0) memory.protect(PROT_NONE);
}

void DeviceMemory::protect(int rights) {
  const size_t end = blocks_.empty() ? 0 : blocks_.rbegin()->first + blocks_.rbegin()->second.need;
  const size_t bytes = std::max(protected_, (end + 4095) / 4096 * 4096);
  if (bytes && mprotect(base_, bytes, rights) != 0) die("mprotect failed");
  protected_ = rights == PROT_NONE ? 0 : bytes;
}

}  // namespace emulator
