// What a metric is, and how it registers. A corpus score is a function of sums over its segments,
// so the sums of two parts of a corpus add up to those of the whole, and a resampled corpus is a
// sum of its rows.
//
// A metric is one file, lib/eval/metrics/NAME.cpp: its options, a class derived from MetricOf, and
// the function NAME_metric(), which registers it. The build lists these functions by the names of
// the files, so that nothing else has to name a metric.
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

// The release of sacreBLEU whose figures lib/eval reproduces. Signatures name it, so that scores of
// both can be compared.
inline constexpr char sacrebleu_version[] = "2.6.0";
// "tx-0.1.0": in its place for a metric that sacreBLEU does not have.
std::string own_version();

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
  // For files of statistics: "metric", "settings", "columns", and all that these depend on.
  virtual Json describe() const = 0;

  // How a file comes apart into segments; null: one line each.
  virtual std::unique_ptr<SegmentForm> form() const { return nullptr; }
  // Whether lower scores are better; a text then scores 0 against itself.
  virtual bool lower_is_better() const { return false; }
  // Whether it splits text as people write it into words. Of text that is tokenised already it
  // gives other scores than those that are published.
  virtual bool tokenizes() const { return false; }
  // From here on scores are those of single segments.
  virtual void score_segments() {}

  // Adds one segment's statistics to sums (size()). All text is valid UTF-8 without '\n'; there is
  // at least one reference. White space at the end of a text does not count.
  virtual void add(std::string_view hypothesis, std::span<const std::string> references,
                   std::span<double> sums) = 0;

  Score score(std::span<const double> sums) const;               // without its signature
  virtual double value(std::span<const double> sums) const = 0;  // the score's value alone
  // The same in the single precision in which sacreBLEU computes the scores of resampled corpora;
  // single_precision(): the result itself is a float.
  virtual double value(std::span<const float> sums) const = 0;
  virtual bool single_precision() const = 0;
  // Why the score is 0 although hypotheses and references agree in part; "" where that is not so.
  virtual std::string why_zero(std::span<const double>) const { return ""; }

 private:
  // Fills in details and statistics.
  virtual void explain(std::span<const double> sums, Score& score) const = 0;
};

// The options of a metric that its statistics or scores depend on, by their keys in files of
// statistics.
class StoredOptions {
 public:
  void add(const char* key, const Option& option) { options_.emplace_back(key, &option); }
  // Without those that have no value.
  void write(Json& json) const;
  // Sets the fields. Throws DataError: a value is of another kind or outside the option's range.
  void read(const Json& json) const;

 private:
  std::vector<std::pair<const char*, const Option*>> options_;
};

// What every struct of options has. `Options` of a metric adds the fields, and
//   void describe(tx::Options& options, StoredOptions& stored);
// which describes each option once, for the command line and for files of statistics.
struct MetricOptionsBase {
  std::string metric;      // the name it was chosen by
  bool sums_only = false;  // it will score sums alone: files that text needs are not read
};

// A metric M over its options O: derive M from MetricOf<M, O> and write
//   template <class T> T compute(std::span<const T> sums) const
// for T double and float, the score's value. Where the result for floats is a double, sacreBLEU
// scores the metric in double precision.
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
    StoredOptions stored;
    options.describe(described, stored);
    stored.write(json);
    return json;
  }

 protected:
  O options_;

 private:
  const M& metric() const { return static_cast<const M&>(*this); }
};

// How a metric presents itself.
struct MetricTitle {
  std::vector<std::string> names;  // by which it is chosen: "chrf", "chrf++"
  std::string heading;             // of its options, "chrF"
  std::string subject;             // of what, where that is not text: "trees"; "": as sacreBLEU
  std::string note;                // for the manual, "f1 compares bracketed trees"; may be empty
};

// A registered metric with values of its options.
class MetricKind {
 public:
  explicit MetricKind(MetricTitle title) : title(std::move(title)) {}
  virtual ~MetricKind() = default;
  virtual void describe(Options& options) = 0;
  // Throws UsageError: the values contradict each other.
  virtual std::unique_ptr<Metric> make(const std::string& name) const = 0;
  // From what Metric::describe() gave: scores sums, but cannot measure text.
  virtual std::unique_ptr<Metric> restore(const Json& json) const = 0;

  const MetricTitle title;
};

template <class M>
class MetricKindOf : public MetricKind {
 public:
  using MetricKind::MetricKind;
  void describe(Options& options) override {
    StoredOptions unused;
    options_.describe(options, unused);
  }
  std::unique_ptr<Metric> make(const std::string& name) const override {
    typename M::Settings options = options_;
    options.metric = name;
    return std::make_unique<M>(options);
  }
  std::unique_ptr<Metric> restore(const Json& json) const override {
    typename M::Settings options;
    Options described("", "");
    StoredOptions stored;
    options.describe(described, stored);
    stored.read(json);
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
