// The largest entries of each row of a map.
#pragma once
#include <cstdint>
#include <vector>

#include "lib/attention/extraction.h"

namespace tx {

// Both of one shape: of each row its `columns` largest entries, largest first, the lower column
// first among equals.
struct TopEntries {
  int64_t rows = 0, columns = 0;
  std::vector<int32_t> indices;
  std::vector<float> values;
};
// As many as `count`, or all of a row that has fewer.
TopEntries top_of_rows(const AttentionMap& map, int count);

}  // namespace tx
