// The flight recorder, tx-run(5): what a step that went wrong was made of. lib/diagnose/replay.h
// runs such a step again.
#pragma once
#include <vector>

#include "lib/base/json.h"
#include "lib/data/packing.h"
#include "lib/model/parameters.h"

namespace tx {

// A number of JSON, or "nan", "inf", "-inf".
Json finite_or_text(double x);

// All of a step but the weights: its batches with their lines, the coordinates of its masks, its
// record, and the norms of each tensor's weights and gradients, of which it counts the elements
// that are not finite. The step has ended and its update was held.
Json flight_facts(const StepRecord& record, const std::vector<Batch>& batches,
                  const Parameters& parameters);

}  // namespace tx
