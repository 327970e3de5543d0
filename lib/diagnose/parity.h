// tx-train --parity: one step of the user's own model and text on every device and precision of
// this machine, compared tensor by tensor with the CPU's fp32.
#pragma once
#include "lib/base/log.h"
#include "lib/train/options/options.h"

namespace tx {

// Prints a table and a verdict for resolved options. The exit status: 0 when every gradient is
// within the bounds that the table states, else 1.
int parity(TrainOptions& options, Options& given, const Log& log);

}  // namespace tx
