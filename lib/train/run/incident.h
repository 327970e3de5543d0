// What is told about a step that went wrong: its loss or gradients are not finite, or its loss is a
// spike. SpikePolicy (lib/train/run/spike_policy.h) has decided what is done about it.
#pragma once
#include <string>

#include "lib/base/json.h"
#include "lib/train/run/spike_policy.h"

namespace tx {

struct StepRecord;

// The warning. `flight`: the file that records the step; "": there is no such file.
std::string describe_incident(const StepRecord& record, const SpikeDecision& decision,
                              const std::string& flight);

// The line of log.jsonl, tx-run(5), but for `seconds`. `flight`: that file's name in the run
// directory, or "". Where the run goes back, the line belongs behind the lines of the checkpoint
// it goes back to.
Json incident_line(const StepRecord& record, const SpikeDecision& decision,
                   const std::string& flight);

}  // namespace tx
