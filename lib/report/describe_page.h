// tx-train --describe --html: the pictures of the tutorials for the user's own settings: the
// learning rate, the positional encoding, the parameters by block.
#pragma once
#include <string>

#include "lib/base/json.h"
#include "lib/model/config.h"
#include "lib/train/schedule.h"

namespace tx {

// The page's data. `steps`: how far the schedule is drawn.
Json describe_data(const ModelConfig& config, const Schedule& schedule, int64_t steps);

// Writes the page to `out`, "-" being standard output.
void write_description(const ModelConfig& config, const Schedule& schedule, int64_t steps,
                       const std::string& out);

}  // namespace tx
