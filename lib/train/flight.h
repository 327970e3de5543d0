// The flight recorder, tx-run(5): writes what a step that went wrong was made of, and runs it
// again.
#pragma once
#include <string>
#include <vector>

#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/data/packing.h"
#include "lib/model/parameters.h"
#include "lib/train/options.h"

namespace tx {

// A number of JSON, or "nan", "inf", "-inf".
Json finite_or_text(double x);

// All of a step but the weights: its batches with their lines, the coordinates of its masks, its
// record, and the norms of each tensor's weights and gradients, of which it counts the elements
// that are not finite. The step has ended and moved nothing.
Json flight_facts(const StepRecord& record, const std::vector<Batch>& batches,
                  const Parameters& parameters);

// tx-train --replay: runs the step that the record holds, prints what it gives and whether that is
// bit for bit what was recorded; the exit status, 0 or 1. The options are those of the record.
int replay(const TrainOptions& options, const Log& log);

}  // namespace tx
