// Minimum Bayes risk: of outputs that were drawn, the one that is most like all of them (Eikema and
// Aziz, 2020), as a metric of lib/eval sees it.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/eval/metrics/metric.h"
#include "lib/search/engine/translator.h"

namespace tx {

// The utility of each text: its mean score, as a hypothesis, against each of the others as its
// reference, 0 to 100. A text that stands there several times counts so often, but not against
// itself as the same entry. One text alone has 0.
std::vector<double> utilities(const std::vector<std::string>& texts, Metric& metric);

// What a user chooses about it: --mbr and --samples of tx-decode.
class MinimumRisk {
 public:
  void describe(Options& options);
  // Asks the search for the samples. UsageError: fewer than are to be printed.
  void resolve(SearchOptions& search);
  // Puts the outputs of a line in the order of their utility, which becomes their score, each text
  // once, and keeps as many as are printed. Null where --mbr is not given. Several threads may call
  // it. `translator` must live longer.
  std::function<void(Translation&)> rank(const Translator& translator) const;

 private:
  std::string metric_;  // "bleu" or "chrf"; "": none
  int samples_ = 32, printed_ = 1;
};

}  // namespace tx
