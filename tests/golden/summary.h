// A tensor against its summary in a golden file: size, largest magnitude, a few elements, and inner
// products with probes, which no error in any element escapes (make_model.py).
#pragma once
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "lib/base/json.h"
#include "tests/model_support.h"

namespace tx_test {

inline double largest(const std::vector<double>& x) {
  double max = 0;
  for (double v : x) max = std::max(max, std::abs(v));
  return max;
}

// The difference between a tensor and its summary in the file, relative to the largest magnitude.
// Probes are in [-1, 1): an error e in one element moves each by e times about one half.
inline double difference(const std::string& name, const std::vector<double>& x,
                         const tx::Json& summary) {
  BOOST_REQUIRE(x.size() == summary["size"].get<size_t>());
  double max = std::abs(largest(x) - summary["largest"].get<double>());
  for (size_t i = 0; i < summary["at"].size(); ++i) {
    const double element = x[summary["at"][i].get<size_t>()];
    max = std::max(max, std::abs(element - summary["elements"][i].get<double>()));
  }
  for (size_t k = 0; k < summary["probes"].size(); ++k) {
    const std::vector<double> probe = value(name, uint32_t(k) + 1, x.size());
    double product = 0;
    for (size_t i = 0; i < x.size(); ++i) product += x[i] * probe[i];
    max = std::max(max, std::abs(product - summary["probes"][k].get<double>()));
  }
  const double scale = summary["largest"];
  return std::isfinite(max) ? max / scale : INFINITY;
}

}  // namespace tx_test
