// Metrics and their options as a command line of tx-bleu gives them.
#pragma once
#include <string>
#include <vector>

#include "lib/eval/report/scoring.h"

namespace tx_test {

inline tx::ScoringOptions scoring_options(const std::vector<std::string>& words) {
  tx::ScoringOptions settings;
  tx::Options options("tx-bleu", "");
  settings.describe(options);
  std::vector<const char*> argv = {"tx-bleu"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  options.parse(int(argv.size()), argv.data());
  return settings;
}

// {"--metric", "chrf", "--chrf-beta", "3"}
inline tx::Metrics metrics(const std::vector<std::string>& words) {
  return scoring_options(words).metrics.make();
}

// The first metric of these options.
inline std::unique_ptr<tx::Metric> metric(const std::vector<std::string>& words) {
  return std::move(metrics(words).front());
}

}  // namespace tx_test
