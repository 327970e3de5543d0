// The interface of metrics, and their registration. A corpus score is a function of sums over
// segments, so parts of a corpus add up, and a resampled corpus is a sum of rows. A metric is one
// file, lib/eval/metrics/NAME.cpp: its options, a class derived from MetricOf, and the function
// NAME_metric(), which the build finds by the name of the file; nothing else names a metric.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/base/json.h"
#include "lib/cli/options.h"
#include "lib/eval/corpus.h"

namespace tx {

// The release of sacreBLEU whose scores lib/eval reproduces; named in signatures.
inline constexpr char sacrebleu_version[] = "2.6.0";
// "tx-0.1.0": the version in signatures of metrics that sacreBLEU does not have.
std::string own_version();

// Correctly rounded to `digits` decimals: fixed(2.675, 2) is "2.67", because that double is
// smaller.
std::string fixed(double value, int digits);

// The mean of the scores of resampled corpora, and half the width of their 95 % interval.
struct Confidence {
  double mean = 0, half_width = 0;
};

struct Score {
  std::string name;       // "BLEU"
  std::string signature;  // settings as key:value, joined by '|': scores with equal ones compare
  double value = 0;       // 0..100 (TER may be above)
  std::string details;    // what sacreBLEU prints after the score; may be empty
  Json statistics;        // object: the numbers that determine the score
  std::optional<Confidence> confidence;
};

// Sums over segments. Counts are integers, exact below 2^53.
using Statistics = std::vector<double>;

class Metric {
 public:
  virtual ~Metric() = default;
  virtual std::string name() const = 0;  // "BLEU", "chrF2++"
  // The metric's part of the signature: "case:mixed|eff:no|tok:13a|smooth:exp".
  virtual std::string settings() const = 0;
  // The implementation that defines the score, for the signature.
  virtual std::string version() const { return sacrebleu_version; }
  // The names of the statistics; letters, digits and '_'.
  virtual std::vector<std::string> columns() const = 0;
  size_t size() const { return columns().size(); }
  // For files of statistics: "metric", "settings", "columns", and the options that determine them.
  virtual Json describe() const = 0;

  // How files are split into segments; null: one line each.
  virtual std::unique_ptr<SegmentForm> form() const { return nullptr; }
  // Whether lower scores are better; then a text has the score 0 against itself.
  virtual bool lower_is_better() const { return false; }
  // Whether it tokenizes text, so that scores of tokenized text differ from published ones.
  virtual bool tokenizes() const { return false; }
  // Switches from scoring whole corpora to scoring single segments.
  virtual void score_segments() {}

  // Adds the statistics of a segment to sums (size()). All text is valid UTF-8 without '\n'; there
  // is at least one reference. Trailing white space is ignored.
  virtual void add(std::string_view hypothesis, std::span<const std::string> references,
                   std::span<double> sums) = 0;

  Score score(std::span<const double> sums) const;  // without its signature
  virtual double value(std::span<const double> sums) const = 0;
  // The same in single precision, for resampled corpora; single_precision(): it gives a float.
  virtual double value(std::span<const float> sums) const = 0;
  virtual bool single_precision() const = 0;
  // Why the score is 0 although hypotheses and references partly agree; "" otherwise.
  virtual std::string why_zero(std::span<const double>) const { return ""; }

 private:
  // Fills in details and statistics.
  virtual void explain(std::span<const double> sums, Score& score) const = 0;
};

// An option that determines statistics or scores: its key in files of statistics, its long name.
using StoredKey = std::pair<const char*, const char*>;
// Writes those of the options that have a value.
void write_stored(Options& options, const std::vector<StoredKey>& keys, Json& json);
// Sets their fields. DataError if a value has another type or is outside the option's range.
void read_stored(Options& options, const std::vector<StoredKey>& keys, const Json& json);

// The base of the options of a metric, which adds its fields, a describe() and the keys of its own.
struct MetricOptionsBase {
  std::string metric;      // the name by which it was selected
  bool sums_only = false;  // it scores only sums: files that it needs for text are not read
  void describe(Options&) {}
  static std::vector<StoredKey> stored() { return {}; }
};

// A metric M over its options O: derive M from MetricOf<M, O> and write
//   template <class T> T compute(std::span<const T> sums) const
// for T double and float, the value of the score. It returns a double for floats if sacreBLEU
// computes the metric in double precision.
template <class M, class O>
class MetricOf : public Metric {
 public:
  using Settings = O;
  explicit MetricOf(O options) : options_(std::move(options)) {}
  double value(std::span<const double> sums) const final { return metric().compute(sums); }
  double value(std::span<const float> sums) const final { return double(metric().compute(sums)); }
  bool single_precision() const final {
    return std::is_same_v<decltype(metric().compute(std::span<const float>())), float>;
  }
  Json describe() const final {
    Json json{{"metric", options_.metric}, {"settings", settings()}, {"columns", columns()}};
    O options = options_;
    Options described("", "");
    options.describe(described);
    write_stored(described, O::stored(), json);
    return json;
  }

 protected:
  O options_;

 private:
  const M& metric() const { return static_cast<const M&>(*this); }
};

struct MetricTitle {
  std::vector<std::string> names;  // for --metric: "chrf", "chrf++"
  std::string heading;             // of its options, "chrF"
  std::string subject;             // what it scores if not text, "trees"; "": a sacreBLEU metric
  std::string note;                // for the manual, "f1 compares bracketed trees"; may be empty
};

// A registered metric with its options.
class MetricKind {
 public:
  explicit MetricKind(MetricTitle title) : title(std::move(title)) {}
  virtual ~MetricKind() = default;
  virtual void describe(Options& options) = 0;
  // UsageError if options conflict.
  virtual std::unique_ptr<Metric> make(const std::string& name) const = 0;
  // From the result of Metric::describe(): scores sums, but not text.
  virtual std::unique_ptr<Metric> restore(const Json& json) const = 0;

  const MetricTitle title;
};

template <class M>
class MetricKindOf : public MetricKind {
 public:
  using MetricKind::MetricKind;
  void describe(Options& options) override { options_.describe(options); }
  std::unique_ptr<Metric> make(const std::string& name) const override {
    typename M::Settings options = options_;
    options.metric = name;
    return std::make_unique<M>(options);
  }
  std::unique_ptr<Metric> restore(const Json& json) const override {
    typename M::Settings options;
    Options described("", "");
    options.describe(described);
    read_stored(described, M::Settings::stored(), json);
    options.metric = json_value<std::string>(json, "metric", "a metric");
    options.sums_only = true;
    return std::make_unique<M>(options);
  }

 private:
  typename M::Settings options_;
};

template <class M>
std::unique_ptr<MetricKind> metric_kind(MetricTitle title) {
  return std::make_unique<MetricKindOf<M>>(std::move(title));
}

}  // namespace tx
