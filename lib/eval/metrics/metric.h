// What every metric offers. A corpus score is a function of sums over its segments, so the sums of
// two parts of a corpus add up to those of the whole, and a resampled corpus is a sum of its rows.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/json.h"

namespace tx {

// The release of sacreBLEU whose figures lib/eval reproduces. It stands in the signatures, so that
// a score made here can be printed beside one made there.
inline constexpr char sacrebleu_version[] = "2.6.0";

// Of a score over resampled corpora: its mean, half the width of the interval that holds 95 % of
// them.
struct Confidence {
  double mean = 0, half_width = 0;
};

struct Score {
  std::string name;       // "BLEU"
  std::string signature;  // settings as key:value, joined by '|'; what makes scores comparable
  double value = 0;       // 0..100 (TER may be above)
  std::string details;    // what sacreBLEU prints after the score; may be empty
  Json statistics;        // object: the figures behind the score
  std::optional<Confidence> confidence;
};

// Sums over segments. Counts are whole numbers, exact below 2^53.
using Statistics = std::vector<double>;

class Metric {
 public:
  virtual ~Metric() = default;
  virtual std::string name() const = 0;  // "BLEU", "chrF2++"
  // The metric's part of the signature: "case:mixed|eff:no|tok:13a|smooth:exp".
  virtual std::string settings() const = 0;
  // Whose figures these are, as the signature states.
  virtual std::string version() const { return sacrebleu_version; }
  // What each statistic is; words of letters, digits and '_'.
  virtual std::vector<std::string> columns() const = 0;
  size_t size() const { return columns().size(); }

  // Adds one segment's statistics to sums (size()). All text is valid UTF-8 without '\n'; there is
  // at least one reference. White space at the end of a text does not count.
  virtual void add(std::string_view hypothesis, std::span<const std::string> references,
                   std::span<double> sums) = 0;

  // The score without its signature.
  virtual Score score(std::span<const double> sums) const = 0;
  // The score's value alone.
  virtual double value(std::span<const double> sums) const = 0;
  // The same in the single precision in which sacreBLEU computes the scores of resampled corpora;
  // single_precision(): the result itself is a float.
  virtual double value(std::span<const float> sums) const = 0;
  virtual bool single_precision() const = 0;
};

}  // namespace tx
