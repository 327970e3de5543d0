#include "lib/attention/dot_products.h"

#include <cstdlib>
#include <limits>

namespace tx {

std::vector<AttentionMap> dot_products(const std::vector<AttentionMap>& q,
                                       const std::vector<AttentionMap>& k) {
  std::vector<AttentionMap> out;
  for (size_t head = 0; head < q.size(); ++head) {
    const AttentionMap &a = q[head], &b = k[head];
    AttentionMap& map = out.emplace_back();
    map.rows = a.rows;
    map.columns = b.rows;
    map.values.reserve(size_t(map.rows * map.columns));
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = 0; j < b.rows; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < a.columns; ++l) sum += double(a.at(i, l)) * double(b.at(j, l));
        map.values.push_back(float(sum));
      }
  }
  return out;
}

std::vector<AttentionMap> multiplied(const std::vector<AttentionMap>& scores, double factor) {
  std::vector<AttentionMap> out = scores;
  for (AttentionMap& map : out)
    for (float& x : map.values) x = float(double(x) * factor);
  return out;
}

void take_distances(AttentionMap& scores, double slope) {
  for (int64_t i = 0; i < scores.rows; ++i)
    for (int64_t j = 0; j < scores.columns; ++j) {
      float& x = scores.values[size_t(i * scores.columns + j)];
      x = float(double(x) - slope * double(std::abs(i - j)));
    }
}

void mask_far(std::vector<AttentionMap>& scores, int window) {
  for (AttentionMap& map : scores)
    for (int64_t i = 0; i < map.rows; ++i)
      for (int64_t j = 0; j < map.columns; ++j)
        if (std::abs(i - j) >= window)
          map.values[size_t(i * map.columns + j)] = -std::numeric_limits<float>::infinity();
}

void mask_later(std::vector<AttentionMap>& scores) {
  for (AttentionMap& map : scores)
    for (int64_t i = 0; i < map.rows; ++i)
      for (int64_t j = i + 1; j < map.columns; ++j)
        map.values[size_t(i * map.columns + j)] = -std::numeric_limits<float>::infinity();
}

}  // namespace tx
