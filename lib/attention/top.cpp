#include "lib/attention/top.h"

#include <algorithm>
#include <numeric>

namespace tx {

TopEntries top_of_rows(const AttentionMap& map, int count) {
  TopEntries out;
  out.rows = map.rows;
  out.columns = std::min<int64_t>(count, map.columns);
  std::vector<int32_t> order(size_t(map.columns));
  for (int64_t row = 0; row < map.rows; ++row) {
    std::iota(order.begin(), order.end(), 0);
    const auto larger = [&](int32_t a, int32_t b) {
      const float x = map.at(row, a), y = map.at(row, b);
      return x != y ? x > y : a < b;
    };
    std::partial_sort(order.begin(), order.begin() + out.columns, order.end(), larger);
    for (int64_t i = 0; i < out.columns; ++i) {
      out.indices.push_back(order[size_t(i)]);
      out.values.push_back(map.at(row, order[size_t(i)]));
    }
  }
  return out;
}

}  // namespace tx
