// The checkpoints of a run directory, tx-run(5): their files, and the metric that ranks them. No
// lock is needed: checkpoints are renamed into place, so a file that exists is complete.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tx {

// RUN/KIND-STEP.safetensors, where kind is "model", "state" or "flight".
std::string checkpoint_file(const std::string& run, const std::string& kind, int64_t step);

// The steps for which RUN has such a file, ascending; IoError if the directory cannot be read.
std::vector<int64_t> checkpoint_steps(const std::string& run, const std::string& kind);

// Checkpoints are ranked by a metric of the validation text (--valid-metric) or by the score that a
// command prints for the saved model (--valid-command). The model file records the metrics,
// tx-model(5), the state file the command's score, tx-run(5).

// The metrics of --valid-metric by name, the default first.
const std::vector<std::string>& validation_metrics();
inline constexpr char command_metric[] = "command";  // the name of the metric of --valid-command

// Whether the metric scores translations (bleu, chrf), not tokens.
bool is_translated(const std::string& metric);
// True for loss and perplexity, false for every other metric.
bool lower_is_better(const std::string& metric);

// The comparable checkpoints of a run, best first; ties by ascending step.
struct Ranking {
  std::string metric;
  std::vector<int64_t> steps;
};
// Ranks those of `steps` (ascending) of the newest's metric and validation text or command, by
// default the validation loss. Reads headers only.
Ranking rank_checkpoints(const std::string& run, const std::vector<int64_t>& steps);

}  // namespace tx
