// tx-train --replay: runs the step of a flight record, tx-run(5), again.
#pragma once
#include "lib/base/log.h"
#include "lib/train/options/options.h"

namespace tx {

// Runs the step that the record options.replay holds, prints what it gives and whether that is bit
// for bit what was recorded; the exit status, 0 or 1. The options are those of the record.
int replay(const TrainOptions& options, const Log& log);

}  // namespace tx
