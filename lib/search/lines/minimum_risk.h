// Minimum-Bayes-risk selection (Eikema and Aziz, 2020): the sample with the highest mean score.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "lib/eval/metric.h"
#include "lib/search/engine/translator.h"

namespace tx {

// The utility of each text: its mean score as a hypothesis against each other text as reference, 0
// to 100. Duplicates count as separate texts. A single text has utility 0.
std::vector<double> utilities(const std::vector<std::string>& texts, Metric& metric);

// The options --mbr and --samples of tx-decode.
class MinimumRisk {
 public:
  void describe(Options& options);
  // Sets the number of outputs of the search. UsageError: fewer samples than --nbest.
  void resolve(SearchOptions& search);
  // Sorts the outputs of a line by utility, which becomes their score, drops duplicates and keeps
  // the best --nbest. Null without --mbr. Thread-safe. Keeps a reference to `translator`.
  std::function<void(Translation&)> rank(const Translator& translator) const;

 private:
  std::string metric_;  // "bleu" or "chrf"; "": none
  int samples_ = 32, printed_ = 1;
};

}  // namespace tx
