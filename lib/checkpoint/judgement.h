// What the checkpoints of a run are compared by: a metric of the validation text (--valid-metric)
// or what a command says about the saved model (--valid-command). Each checkpoint records its own:
// a model what was measured, tx-model(5), a state what the command said, tx-run(5).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tx {

// The metrics of --valid-metric by name, the default first.
const std::vector<std::string>& validation_metrics();
inline constexpr char command_metric[] = "command";  // the name that stands for --valid-command

// Whether it scores translations (bleu, chrf), not tokens.
bool is_translated(const std::string& metric);
// For loss and perplexity lower is better, for everything else higher.
bool lower_is_better(const std::string& metric);

// The checkpoints of a run that can be compared, the best first, equal ones by their step.
struct Ranking {
  std::string metric;
  std::vector<int64_t> steps;
};
// Of `steps` (ascending) those that record what the newest of them was compared by. A model that
// names no metric is compared by its validation loss. Reads headers only.
Ranking rank_checkpoints(const std::string& run, const std::vector<int64_t>& steps);

}  // namespace tx
