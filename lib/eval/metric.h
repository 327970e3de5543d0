// What every metric offers. A corpus score is a function of sums over its segments, so the sums of
// two parts of a corpus add up to those of the whole, and a resampled corpus is a sum of its rows.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/json.h"

namespace tx {

struct Score {
  std::string name;       // "BLEU"
  std::string signature;  // settings as key:value, joined by '|'; what makes scores comparable
  double value = 0;       // 0..100
  std::string details;    // what sacreBLEU prints behind the score
  Json statistics;        // object: the figures behind the score
};

// Sums over segments. Counts are whole numbers, exact below 2^53.
using Statistics = std::vector<double>;

class Metric {
 public:
  virtual ~Metric() = default;
  virtual size_t size() const = 0;  // of the statistics
  // Adds one segment's statistics to sums (size()). All text is valid UTF-8 without '\n'; there is
  // at least one reference.
  virtual void add(std::string_view hypothesis, std::span<const std::string> references,
                   std::span<double> sums) = 0;
  virtual Score score(std::span<const double> sums, int references) const = 0;
};

}  // namespace tx
