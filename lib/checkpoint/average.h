// Averaging: one model whose every weight is the mean of that weight in several models.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/cli/options.h"

namespace tx {

struct AverageOptions {
  std::vector<std::string> inputs;  // model files; of a run directory its best, else its last model
  std::optional<int> last, best;    // instead: so many models of the one run directory given
  std::string out;                  // the model file to write; "-": standard output
  std::string to = "fp32";          // how weights are written: fp32, bf16, int8
  bool quiet = false;               // does not name the models

  void describe(Options& options);
};

// The files to average: the inputs, or the models of the run that --last or --best select,
// ascending by step. The model of step 0 never counts; the best are those of rank_checkpoints().
// UsageError for inputs that do not go with --last and --best, DataError when the run has too few
// models.
std::vector<std::string> models_to_average(const AverageOptions& options);

// Writes the mean, atomically: sums in double, rounded once to fp32, and from there to what is
// written. Inputs are mapped, and the output is written as it is computed, so memory does not grow
// with models or weights. DataError names the file and what differs when configuration,
// vocabularies or tensors do, and the tensor that holds a value that is not finite. The provenance
// lists the inputs, tx-model(5); the bytes depend on the inputs and the words of the options, `out`
// apart.
void average_models(const AverageOptions& options, const Log& log);

}  // namespace tx
