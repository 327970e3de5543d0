// Averaging: a model whose weights are the mean of the weights of several models.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "lib/model/config.h"

namespace tx {

struct AverageOptions {
  std::vector<std::string> inputs;  // model files, or run directories (their best, else last model)
  std::optional<int> last, best;    // with one run directory: the number of its models to average
  std::string out;                  // the model file to write; "-": standard output
  Named<DType> to = DType::f32;     // type of the weights
  bool quiet = false;               // do not list the models

  void describe(Options& options);
};

// The files to average: the inputs, or the models that --last or --best select from a run, by
// ascending step. The model of step 0 is never selected; the best are those of rank_checkpoints().
// UsageError if the inputs are not one run directory, DataError if the run has too few models.
std::vector<std::string> models_to_average(const AverageOptions& options, const Log& log);

// Writes the mean, atomically: summed in double, rounded once to fp32 and then to the type of the
// output, in memory that does not grow with the models. DataError names the file and the difference
// if configurations, vocabularies or tensors differ, or the tensor with values that are not finite.
// The provenance lists the inputs, tx-model(5); the bytes do not depend on `out`.
void average_models(const AverageOptions& options, const Log& log);

}  // namespace tx
