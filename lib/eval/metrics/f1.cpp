// Labelled bracketing F1 of constituency trees (PARSEVAL) by the rules of EVALB, the usual scorer
// of parsers. lib/eval/matching/brackets.h defines trees and the constituents that are scored.
//   - a constituent is its label, its first and its last word; equal ones match once each
//   - a segment whose trees have no scored words is ignored
// Recall = matched / constituents of the references, precision = matched / those of the hypotheses.
//
// A hypothesis is malformed if its parentheses are unbalanced, a closing label differs from that of
// the constituent, or its number of words differs from the reference's. Then it has no
// constituents, and those of the reference are missed; EVALB ignores such segments
// (skip_malformed). Unlike EVALB, words are counted, not compared, since linearised trees do not
// contain them.
#include <algorithm>
#include <iterator>

#include "lib/base/error.h"
#include "lib/eval/matching/brackets.h"
#include "lib/eval/metric.h"

namespace tx {
namespace {

struct F1Options : MetricOptionsBase {
  bool skip_malformed = false;

  void describe(Options& options) {
    options.flag("--skip-malformed", skip_malformed, "ignore malformed trees, as EVALB does",
                 "Otherwise all constituents of their references are missed.");
  }
  static std::vector<StoredKey> stored() { return {{"skip_malformed", "skip-malformed"}}; }
};

class BracketF1 : public MetricOf<BracketF1, F1Options> {
 public:
  using MetricOf::MetricOf;
  std::string name() const override { return "F1"; }
  std::string settings() const override {
    return std::string("labels:evalb|malformed:") + (options_.skip_malformed ? "skip" : "miss");
  }
  std::string version() const override { return own_version(); }
  // matched, hypothesis, reference: constituents; complete: without an error; malformed: segments
  std::vector<std::string> columns() const override {
    return {"matched", "hypothesis", "reference", "complete", "segments", "malformed"};
  }
  // One reference. DataError if it is not a tree.
  void add(std::string_view hypothesis, std::span<const std::string> references,
           std::span<double> sums) override;
  template <class T>
  double compute(std::span<const T> sums) const {
    const double both = double(sums[1]) + double(sums[2]);
    return both > 0 ? 100 * 2 * double(sums[0]) / both : 0;
  }

 private:
  void explain(std::span<const double> sums, Score& score) const override;

  BracketReader reader_;
  Brackets hypothesis_, reference_;
};

void BracketF1::add(std::string_view hypothesis, std::span<const std::string> references,
                    std::span<double> sums) {
  if (references.size() != 1) throw UsageError("f1 supports one reference only");
  reader_.read(references[0], reference_);
  if (!reference_.error.empty())
    throw DataError("the reference is not a bracketed tree: " + reference_.error);
  reader_.read(hypothesis, hypothesis_);
  const bool malformed = !hypothesis_.error.empty() || hypothesis_.words != reference_.words;
  if (malformed) {
    hypothesis_.spans.clear();
    ++sums[5];
    if (options_.skip_malformed) return;
  }
  if (!malformed && reference_.words == 0) return;
  std::vector<Brackets::Span> common;
  std::set_intersection(hypothesis_.spans.begin(), hypothesis_.spans.end(),
                        reference_.spans.begin(), reference_.spans.end(),
                        std::back_inserter(common));
  const size_t matched = common.size();
  sums[0] += double(matched);
  sums[1] += double(hypothesis_.spans.size());
  sums[2] += double(reference_.spans.size());
  const bool complete =
      !malformed && matched == hypothesis_.spans.size() && matched == reference_.spans.size();
  sums[3] += complete ? 1 : 0;
  ++sums[4];
}

void BracketF1::explain(std::span<const double> sums, Score& score) const {
  const auto percent = [](double part, double whole) { return whole > 0 ? 100 * part / whole : 0; };
  const double precision = percent(sums[0], sums[1]), recall = percent(sums[0], sums[2]);
  score.details = "(P = " + fixed(precision, 2) + " R = " + fixed(recall, 2) +
                  " complete = " + fixed(percent(sums[3], sums[4]), 2) +
                  " segments = " + fixed(sums[4], 0) + " malformed = " + fixed(sums[5], 0) + ")";
  const std::vector<std::string> names = columns();
  for (size_t k = 0; k < names.size(); ++k) score.statistics[names[k]] = int64_t(sums[k]);
  score.statistics["precision"] = precision;
  score.statistics["recall"] = recall;
}

}  // namespace

std::unique_ptr<MetricKind> f1_metric() {
  return metric_kind<BracketF1>({.names = {"f1"},
                                 .heading = "F1",
                                 .subject = "trees",
                                 .note = "f1 compares bracketed trees"});
}

}  // namespace tx
