// Learning rates.
#pragma once
#include "lib/train/options.h"

namespace tx {

// That of a step, counted from 1, for a model of this width (tx-paper(7), 5.3).
double learning_rate(const TrainOptions& options, int64_t d_model, int64_t step);

}  // namespace tx
