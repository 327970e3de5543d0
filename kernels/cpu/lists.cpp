#include <cstring>
#include <numeric>

#include "kernels/cpu.h"

namespace tx {

void Cpu::extend_lists(const CacheLists& p) {
  for (int64_t r = 0; r < p.rows; ++r) {
    const size_t before = size_t(p.lengths[r] - 1);
    int32_t* to = p.to + r * p.stride;
    if (p.parents[r] < 0)
      std::iota(to, to + before, -1 - p.parents[r]);
    else if (before)
      std::memcpy(to, p.from + p.parents[r] * p.stride, before * sizeof *to);
    to[before] = p.slots[r];
  }
}

}  // namespace tx
