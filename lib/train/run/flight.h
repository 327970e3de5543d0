// The flight recorder, tx-run(5): a bad step, which lib/diagnose/training.h runs again.
#pragma once
#include <vector>

#include "lib/base/json.h"
#include "lib/data/packing.h"
#include "lib/model/parameters.h"

namespace tx {

// A JSON number, or "nan", "inf", "-inf".
Json finite_or_text(double x);

// Everything about a step except its weights: batches with their line numbers, coordinates of the
// dropout masks, record, and for each tensor the norms and the numbers of non-finite elements of
// weights and gradients. Call it after the step, whose update must not have been applied.
Json flight_facts(const StepRecord& record, const std::vector<Batch>& batches,
                  const Parameters& parameters);

}  // namespace tx
