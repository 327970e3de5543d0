// extend_lists.
#include "tests/unit/kernels/checker.h"

using namespace tx_test;

namespace {

// Hypotheses whose parents have lists of any length; some parents occur several times, some never.
void check_lists(int64_t rows, int64_t parents, int64_t stride) {
  std::vector<int32_t> from(size_t(parents * stride)), to(size_t(rows * stride), -7);
  for (size_t i = 0; i < from.size(); ++i) from[i] = int32_t(i * 2654435761u >> 8);
  std::vector<int32_t> parent, slot, length, want = to;
  for (int64_t r = 0; r < rows; ++r) {
    length.push_back(int32_t(1 + (r * 37 + 5) % stride));
    slot.push_back(int32_t(1000000 + r));
    // The parent of a list of one entry is never read.
    parent.push_back(length.back() == 1 ? int32_t(parents) + 9 : int32_t((r * 11 + 3) % parents));
    if (r % 3 == 1) parent.back() = -1 - int32_t(r * 50);  // -1 - n: entries n, n + 1, ...
    for (int32_t j = 0; j + 1 < length.back(); ++j)
      want[size_t(r * stride + j)] =
          parent.back() < 0 ? int32_t(r * 50) + j : from[size_t(parent.back() * stride + j)];
    want[size_t(r * stride + length.back() - 1)] = slot.back();
  }
  run_layouts([&](Run& run) {
    tx::CacheLists p;
    p.from = run.array(from);
    p.parents = run.array(parent);
    p.slots = run.array(slot);
    p.lengths = run.array(length);
    p.to = run.array(to, Access::write);
    p.rows = rows;
    p.stride = stride;
    run.call([&](auto& b) { b.extend_lists(p); });
    BOOST_TEST((run.read(p.to, rows * stride) == want));
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lists)

BOOST_AUTO_TEST_CASE(table) {
  for (const int64_t rows : {0, 1, 4, 5, 63})
    for (const int64_t stride : {1, 2, 31, 32, 33, 100})
      for (const int64_t parents : {1, 8})
        BOOST_TEST_CONTEXT(rows << " lists of " << stride << ", " << parents << " parents")
  check_lists(rows, parents, stride);
}

BOOST_AUTO_TEST_SUITE_END()
